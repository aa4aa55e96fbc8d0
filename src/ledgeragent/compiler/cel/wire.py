"""Protobuf's wire format, as far as the serialized form of CEL needs it.

Every message here has unique field numbers, and only varints and length-delimited fields are written
back, so messages with numbers of fixed width can be read but not written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

WireFields = dict[int, list[Any]]
"""A protobuf message: field number -> the raw values given for it."""


def first(message: WireFields, number: int, default: Any) -> Any:
    """The first value of a field."""
    return message[number][0] if number in message else default


def text_of(message: WireFields, number: int) -> str:
    """The text of a field, "" where it is left out."""
    return str(first(message, number, b"").decode())


def read_message(raw: bytes) -> WireFields:
    """The fields of one message: integers for varints, bytes for everything else."""
    fields: WireFields = defaultdict(list)
    position, end = 0, len(raw)
    while position < end:
        key, position = _varint(raw, position)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, position = _varint(raw, position)
            fields[number].append(value)
            continue
        if wire == 2:
            length, position = _varint(raw, position)
        else:
            length = 8 if wire == 1 else 4
        fields[number].append(raw[position : position + length])
        position += length
    return fields


def _varint(raw: bytes, position: int) -> tuple[int, int]:
    result = raw[position]
    position += 1
    if result < 0x80:
        return result, position
    result &= 0x7F
    shift = 7
    while True:
        byte = raw[position]
        position += 1
        result |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return result, position


def write_message(fields: WireFields) -> bytes:
    """The message with these fields: integers as varints, bytes (and texts) length-delimited."""
    return b"".join(_field(number, value) for number, values in fields.items() for value in values)


def _field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return bytes((*_digits(number << 3), *_digits(value)))
    raw = value.encode() if isinstance(value, str) else value
    return bytes((*_digits(number << 3 | 2), *_digits(len(raw)))) + raw


def _digits(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
