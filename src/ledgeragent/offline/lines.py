"""Lines of recorded data: each decoded, or what is wrong with it."""

from __future__ import annotations

import json
from codecs import BOM_UTF8

from ledgeragent.errors import DataError
from ledgeragent.files.decoding import decode
from ledgeragent.files.limits import refuse_large
from ledgeragent.types import Json


def decoded_line(text: bytes, file: str, line: int) -> Json | DataError:
    """The value of one JSON text, or the problem with it, at the line of the file where it begins."""
    try:
        refuse_large(text, file, line)
        return decode(text.removeprefix(BOM_UTF8))
    except DataError as refusal:
        return refusal
    except UnicodeDecodeError:
        return DataError("not UTF-8 text", file=file, line=line)
    except json.JSONDecodeError as error:
        where = f"{error.msg} at column {error.colno}"
        return DataError(f"not JSON: {where}", file=file, line=line + error.lineno - 1)
    except RecursionError:
        return DataError("nested too deeply", file=file, line=line)
    except ValueError as error:
        return DataError(f"not JSON: {error}", file=file, line=line)


def stripped_line(text: bytes, file: str, line: int) -> Json | DataError:
    """The same of a line, where white space around the text counts for nothing."""
    return decoded_line(text.strip(), file, line)
