"""The memory of texts: what it gives back, and that it stays small."""

from __future__ import annotations

from ledgeragent.offline.textmemory import _MOST_CHARACTERS, _MOST_KEPT, TextMemory


def test_a_result_is_given_back_by_its_key() -> None:
    memory: TextMemory[str, int] = TextMemory()
    memory.put("a", 1, 1)
    assert (memory.get("a"), memory.get("b")) == (1, None)


def test_it_begins_anew_where_there_are_many() -> None:
    memory: TextMemory[int, int] = TextMemory()
    for number in range(_MOST_KEPT + 1):
        memory.put(number, number, 1)
    assert (memory.get(0), memory.get(_MOST_KEPT)) == (None, _MOST_KEPT)


def test_it_begins_anew_where_the_texts_are_large_together() -> None:
    memory: TextMemory[str, str] = TextMemory()
    half = _MOST_CHARACTERS // 2
    for key in "abc":
        memory.put(key, key, half)
    assert (memory.get("a"), memory.get("b"), memory.get("c")) == (None, None, "c")
    memory.put("d", "d", half)
    assert memory.get("c") == "c"
