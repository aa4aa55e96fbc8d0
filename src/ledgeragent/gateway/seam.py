"""The seam between what a stream has said of a rejected reply and what the revised one says.

What was sent cannot be taken back, and models often begin again with the same words. So words that
repeat the last reply from its beginning are kept back until they go on or part from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ledgeragent.gateway.sse import ServerEvent

BREAK = "\n\n"
"""What parts the texts of two replies."""

Say = Callable[[str], Iterable[ServerEvent]]


class Seam:
    """The text of one answer, whichever of its replies it is from.

    `text` is what the current reply has said, `repeated` how much of its beginning was not sent
    since the client has it already. `has_words` tells whether the client has read anything.
    """

    def __init__(self) -> None:
        self.text = ""
        self.repeated = 0
        self.has_words = False
        self._last = ""
        self._space = ""
        self._waits = False
        self._held: list[tuple[str, Say]] = []

    @property
    def waits(self) -> bool:
        """True while all that this reply has said may be a repetition."""
        return self._waits

    def add(self, text: str, say: Say) -> Iterator[ServerEvent]:
        """The events for more text, which `say` makes: at once unless it may be a repetition."""
        self.text += text
        if not self._waits:
            self.has_words = self.has_words or bool(text.strip())
            yield from say(text)
            return
        self._held.append((text, say))
        if not self._last.startswith(self.text.rstrip()):
            yield from self.close()

    def close(self, *, keep: bool = False) -> Iterator[ServerEvent]:
        """The events for what was kept back, once it is clear what it is.

        What only repeats the last reply is dropped, or sent all the same if told to `keep` it.
        """
        parts, self._held = self._held, []
        if not parts:
            return
        self._waits = False
        self.repeated = left = self._repetition(keep)
        lead = "" if left else BREAK
        for text, say in parts:
            new, left = text[left:], max(left - len(text), 0)
            if new:
                yield from say(f"{lead}{new}")
                lead = ""
            elif not text and not left and self.repeated < len(self.text):
                yield from say("")

    def _repetition(self, keep: bool) -> int:
        repeats = self.text.startswith(self._last)
        new = self.text[len(self._last) :]
        if not self.text.strip() or (repeats and not new.strip()):
            return 0 if keep else len(self.text)
        if repeats and new.startswith(self._space):
            return len(self._last) + len(self._space)
        return len(self._last) if repeats and new[0].isspace() else 0

    def again(self) -> None:
        """Another reply follows."""
        if self.text.strip():
            self._last = self.text.rstrip()
            self._space = self.text[len(self._last) :]
        self._waits = bool(self._last)
        self.text, self.repeated, self._held = "", 0, []

    def after(self, text: str) -> str:
        """Words of ours, as they follow what was said."""
        return f"{BREAK}{text}" if self.has_words else text
