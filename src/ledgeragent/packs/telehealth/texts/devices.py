"""Telemetry devices and what they upload."""

from __future__ import annotations

import re

from ledgeragent.effects import Untyped
from ledgeragent.packs.telehealth.texts.common import rows
from ledgeragent.types import Json, parse_distinct

_NO_DEVICES = re.compile(r"No telemetry devices found(?: with status [^\n]*)?\.")
_NO_UPLOADS = re.compile(r"No telemetry uploads found for device [^\n]*\.")
_DEVICE = re.compile(
    r"(?P<device_id>[^|\s]+) \| status=(?P<status>\S+) \| last_audit=(?P<last_audit>\S+) \| "
    r"notes=(?P<notes>.*)"
)


def device_list(text: str) -> Json:
    """The list that list_telemetry_devices prints; ValueError where it can't be read."""
    if _NO_DEVICES.fullmatch(text.strip()):
        return []
    header, *lines = text.strip().split("\n")
    table = rows(lines, _DEVICE)
    if not header.startswith("Telemetry devices") or table is None:
        raise ValueError("the list of devices can't be read")
    return table


def upload(text: str) -> Json:
    """The answer of get_telemetry_upload: an object, or a sentence where there is no upload."""
    return parse_distinct(text) if text.startswith("{") else Untyped(text)


def upload_list(text: str) -> Json:
    """The answer of list_telemetry_uploads: objects, or a sentence for none; ValueError for others."""
    uploads = [] if _NO_UPLOADS.fullmatch(text.strip()) else parse_distinct(text)
    if not isinstance(uploads, list):
        raise ValueError("the list of uploads can't be read")
    return uploads
