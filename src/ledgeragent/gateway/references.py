"""References: items of a response that a client gives back by their ids alone.

Upstream knows what they stand for, but not which of them the client was sent, and the gate has to read
them. So each item that goes out is kept, and put in the place of its reference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ledgeragent.gateway.dialects.base import Body
from ledgeragent.gateway.errors import BadRequestError
from ledgeragent.stores.base import SavedSession, SessionStore
from ledgeragent.stores.memory import Memory

ItemKey: TypeAlias = Callable[[str], str]
"""Where the item of an id is kept, for whoever asks."""


async def resolved(body: Body, key: ItemKey, store: SessionStore) -> Body:
    """The request with every item in the place of its reference; BadRequestError for one not known."""
    items = body.get("input")
    if not isinstance(items, list) or not any(map(_is_reference, items)):
        return body
    whole = [
        await _item(item, f"input[{n}]", key, store) if _is_reference(item) else item
        for n, item in enumerate(items)
    ]
    return {**body, "input": whole}


async def keep(items: Iterable[Body], key: ItemKey, store: SessionStore) -> None:
    """Keeps the items of an answer, for requests to come that only name them."""
    for item in items:
        if name := item.get("id"):
            place = key(str(name))
            earlier = await store.load(place)
            memory = Memory(session="", size=len(json.dumps(item)))
            version = earlier.version if earlier is not None else 0
            await store.save(place, SavedSession(memory=memory, item=item, version=version))


def _is_reference(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return False
    kind = item.get("type")
    return kind == "item_reference" or (kind is None and item.keys() <= {"id", "type"})


async def _item(reference: Body, where: str, key: ItemKey, store: SessionStore) -> Body:
    saved = await store.load(key(reference["id"]))
    if saved is None or saved.item is None:
        raise BadRequestError(
            f"{where}: what {reference['id']!r} stands for is not known here, so it cannot be judged; "
            "send whole items instead (with the option store: false, clients do)"
        )
    item: Body = saved.item
    return item
