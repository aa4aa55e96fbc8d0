"""The speech of a telecom conversation, as far as the rules on handing over go by it.

Each function answers for all texts of one speaker. Words are looked for sentence by sentence, so
that two remarks on different matters are not read as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_SHORTEST_NUMBER = 7
_END = re.compile(r"[.!?\n]+(?:\s|$)|\n")

_PICTURES = r"(?:photo|picture|image|video|media|multimedia)s?"
_MMS = re.compile(
    rf"\bmms\b|\b{_PICTURES}\W+(?:messag|text)|\bmultimedia\b"
    rf"|\b(?:send|sending|receive|receiving)\b.{{0,25}}\b{_PICTURES}\b",
    re.I,
)
_DATA = re.compile(
    r"\b(?:mobile|cellular|roaming)\W+data\b|\binternet\b|\bdata\W+(?:connection|service|speed)\b"
    r"|\bbrows(?:e|ing)\b",
    re.I,
)
_ROAMING = re.compile(r"\broaming\b|\btoggle_roaming\b", re.I)
_ON_THE_LINE = re.compile(r"\b(?:line|account|plan|our (?:side|end|system))\b", re.I)
_ON_THE_PHONE = re.compile(r"\b(?:phone|device|handset|settings?|toggle\w*)\b", re.I)
_PERMISSIONS = re.compile(r"permission|\baccess to (?:storage|sms|files|media)\b", re.I)
_LOCKED = re.compile(r"\block(?:ed)?\b", re.I)
_NOT_LOCKED = re.compile(r"(?:\bnot|n't|\bnever|\bno longer)\b.{0,20}\block(?:ed)?\b", re.I)
_SIM = re.compile(r"\bsim\b", re.I)
_PIN = re.compile(r"\bpin\b|\bpuk\b", re.I)
_MORE_DATA = re.compile(
    r"\brefuel|\btop(?:ping)?[- ]?up\b"
    r"|\b(?:add|adding|buy|buying|purchase)\b.{0,40}\b(?:data|gb|gigabytes?)\b",
    re.I,
)
_ASKED = re.compile("[?\u061f\uff1f]")
_PAY = re.compile(
    r"\bpayment request\b|\bpay(?:ing)? (?:it|the|this|that|your|now)\b|\bto pay\b", re.I
)

_RESUMING = re.compile(
    r"\b(?:resum|re-?activat|un-?suspend|restor)\w*|\blift(?:ed|ing)?\b.{0,25}\bsuspension\b"
    r"|\bsuspension\b.{0,25}\blift(?:ed|ing)?\b",
    re.I,
)


def sentences(texts: Iterable[str]) -> Iterator[str]:
    """The sentences of some texts."""
    return (sentence for text in texts for sentence in _END.split(text) if sentence)


def is_about_mms(texts: Iterable[str]) -> bool:
    """True if messages with pictures are spoken of."""
    return any(map(_MMS.search, sentences(texts)))


def is_about_data(texts: Iterable[str]) -> bool:
    """True if mobile data, or the internet, is spoken of."""
    return any(map(_DATA.search, sentences(texts)))


def names_roaming_of_phone(texts: Iterable[str]) -> bool:
    """True if the data roaming switch of the phone is named, and not just that of the line."""
    return any(
        _ON_THE_PHONE.search(sentence) or not _ON_THE_LINE.search(sentence)
        for sentence in sentences(texts)
        if _ROAMING.search(sentence)
    )


def names_permissions(texts: Iterable[str]) -> bool:
    """True if the permissions of an app are named."""
    return any(map(_PERMISSIONS.search, sentences(texts)))


def tells_locked_sim(texts: Iterable[str]) -> bool:
    """True if a SIM is said to be locked, or to ask for its PIN or PUK."""
    return any(map(_is_locked_sim, sentences(texts)))


def _is_locked_sim(sentence: str) -> bool:
    if _NOT_LOCKED.search(sentence):
        return False
    sim, pin = _SIM.search(sentence), _PIN.search(sentence)
    return bool((sim and pin) or (_LOCKED.search(sentence) and (sim or pin)))


def offers_data(texts: Iterable[str]) -> bool:
    """True if adding data is spoken of."""
    return any(map(_MORE_DATA.search, sentences(texts)))


def asks_to_pay(texts: Iterable[str]) -> bool:
    """True if paying a bill is spoken of."""
    return any(map(_PAY.search, sentences(texts)))


def speaks_of_resuming(texts: Iterable[str]) -> bool:
    """True if resuming a line is spoken of."""
    return any(map(_RESUMING.search, sentences(texts)))


def asks_about(texts: Iterable[str], *facts: str) -> bool:
    """True if one of the texts asks something and names all of these, whatever its language."""
    questions = (text.replace(",", ".") for text in texts if _ASKED.search(text))
    return any(all(fact in text for fact in facts) for text in questions)


def names_number(text: str, number: str) -> bool:
    """True if a text names a phone number, however its digits are grouped."""
    digits = re.sub(r"\D", "", number)
    if len(digits) < _SHORTEST_NUMBER:
        return bool(number) and text.strip() == number
    grouped = r"\W{0,2}".join(digits)
    return re.search(rf"(?<!\d)(?:1\W{{0,2}})?{grouped}(?!\d)", text) is not None
