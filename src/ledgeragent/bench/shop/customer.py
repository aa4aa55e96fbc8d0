"""A customer by script: answers what the agent says by simple rules, the same way every time."""

from __future__ import annotations

import re

from ledgeragent.bench.shop.tasks import Task

YES = "Yes, please."
ALL_RIGHT = "All right."
NOTHING_MORE = "That is all I can tell you."

_DENIES = (
    r"\b(can['’]?t|cannot|can not|won['’]t|unable|not (be )?(possible|allowed|able)|too late|"
    r"unfortunately|no longer)\b"
)
_MEANINGS = {
    "email": r"e-?mail|which account|identify|verify",
    "refusal": rf"{_DENIES}|\b(is|was|are|were|has|have|could|do|does)(n['’]t| not)\b"
    r"|\b(no (account|such)|there (is|are) no|not found|expired|rejected)\b",
    "confirm": r"(confirm|proceed|go ahead|shall i|should i|may i|do you want|would you like|"
    r"want me to|is (that|this) (right|correct|ok|okay|fine)|(okay|right|correct|agree))[^.!]*\?",
    "done": r"\b(done|cancell?ed|refunded|replaced|paused|ended|changed|updated|applied|removed|"
    r"added|sent|on (its|the) way|has been|have been|is now|are now|set to|anything else)\b",
    "any": r"",
}
_MORE = re.compile(r"anything else|something else|further|more (i|we) can", re.IGNORECASE)
_ASKS = re.compile(r"\?|please|need|tell me", re.IGNORECASE)
_WAIT = re.compile(r"let me|one moment|a moment|i(['’]ll| will) (now|check|look)", re.IGNORECASE)
_MOST_EMAILS, _MOST_YES, _MOST_SHRUGS = 2, 3, 2


def means(when: str, text: str) -> bool:
    """True if the agent's words meet `when`: a meaning that has a name, or the words themselves.

    A question or a refusal is no report that something was done.
    """
    if when == "done" and _is_no_report(text):
        return False
    patterns = (_MEANINGS.get(part, re.escape(part)) for part in when.split("|"))
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def _is_no_report(text: str) -> bool:
    asks = "?" in text and not _MORE.search(text)
    return asks or re.search(_DENIES, text, re.IGNORECASE) is not None


class ScriptedCustomer:
    """One customer in one conversation."""

    def __init__(self, task: Task) -> None:
        self._email = task.email
        self._left = list(task.lines)
        self._emails = _MOST_EMAILS
        self._yes = _MOST_YES
        self._shrugs = _MOST_SHRUGS

    def answer(self, text: str) -> str | None:
        """The customer's next words; None ends the conversation."""
        if self._is_asked_for_email(text):
            self._emails -= 1
            return f"It is {self._email}."
        for line in self._left:
            if means(line.when, text):
                self._left.remove(line)
                return line.says
        if _MORE.search(text):
            return None
        if self._yes and means("confirm", text):
            self._yes -= 1
            return YES
        return self._shrug(text)

    def _shrug(self, text: str) -> str | None:
        """To a question that the script has no answer to, and to being asked to wait."""
        is_question = "?" in text
        if not self._shrugs or not (is_question or _WAIT.search(text)):
            return None
        self._shrugs -= 1
        return NOTHING_MORE if is_question else ALL_RIGHT

    def _is_asked_for_email(self, text: str) -> bool:
        slips = any("email" in line.when.split("|") for line in self._left)
        return self._emails > 0 and not slips and means("email", text) and bool(_ASKS.search(text))
