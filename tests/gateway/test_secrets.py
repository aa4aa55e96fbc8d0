"""A stranger's records stay with the model: no byte that a customer gets holds anything of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from ledgeragent.compiler.samples import Sample
from ledgeragent.domain import Domain
from ledgeragent.offline.binding import samples
from ledgeragent.packs import load_domain
from ledgeragent.paths import Path
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.wires import CHAT
from tests.gateway.world import run, world

ENUMERATED = {"status", "kind", "plan", "source", "transaction_type", "available"}
"""Fields with a few values, which everybody knows; another one there is no evidence of anything."""

PACKS = ("shop", "retail", "airline", "telehealth")

OWNERS = {"customer_id", "user_id", "patient_id"}
NAMED = {"order_id", "parcel_id", "box_id", "code", "sku", "product_id", "item_id"}
"""What the call names itself."""

MAPS = {"payment_methods", "lines", "vouchers", "items"}


class Planter:
    """Puts a secret in place of every value of a record; `secrets` are those of all its records."""

    def __init__(self) -> None:
        self.secrets: list[str] = []
        self._numbers = count(7_301_001)  # long: no id or time of an answer holds one by chance

    def planted(self, value: Json, name: str = "", inside: str = "") -> Json:
        if isinstance(value, dict):
            keyed = name in MAPS
            return {
                (self._text() if keyed else key): self.planted(part, "" if keyed else key, name)
                for key, part in value.items()
            }
        if isinstance(value, list):
            return [self.planted(part, name, name) for part in value]
        if name in ENUMERATED or value is None or isinstance(value, bool):
            return value
        if name in OWNERS or (name in NAMED and not inside):
            return f"stranger-{name}" if name in OWNERS else value
        return self._text() if isinstance(value, str) else self._number(value)

    def _text(self) -> str:
        self.secrets.append(f"sec{next(self._numbers)}ret")
        return self.secrets[-1]

    def _number(self, value: float) -> float:
        number = next(self._numbers)
        self.secrets.append(str(number))
        return number if isinstance(value, int) else number + 0.25


def history(sample: Sample, domain: Domain, planter: Planter) -> Iterator[Message]:
    """The records of a sample as the model reads them, all of them a stranger's but who was found."""
    yield UserMessage(text="Do as I say.")
    for number, (text, record) in enumerate(sample.ledger.items()):
        path = Path.parse(text)
        reads = domain.reads_for(path)
        if not reads:
            continue
        call = ToolCall(name=reads[0].name, arguments=reads[0].arguments, id=f"r{number}")
        value = record if path[0] == "auth" else planter.planted(record)
        content = value if isinstance(value, str) else json.dumps(value)
        yield Reply(calls=(call,))
        yield ToolReturn(call_id=call.id, content=content)


@dataclass
class Account:
    """What came of the samples of a pack: how many calls were refused, and the secrets told of them."""

    refused: int = 0
    told: list[str] = field(default_factory=list)


async def account(client: Client, pack: str, domain: Domain) -> Account:
    """Every sample of a pack as a conversation with a stranger."""
    so_far = Account()
    async with world(domain=domain, max_revisions=0) as w:
        for number, sample in enumerate(samples(pack)):
            planter = Planter()
            messages = list(history(sample, domain, planter))
            call = ToolCall(name=sample.call.name, arguments=sample.call.arguments, id="w")
            w.upstream.script.append(Reply(calls=(call,)))
            mine = {"authorization": f"Bearer {number}"}
            got = await client.ask(w, *messages, headers=mine)
            whole = json.dumps([got.body, got.events, got.comments, got.headers])
            shown = client.wire.told(w.upstream.asked[-1])
            assert all(secret in shown for secret in planter.secrets), "it was there to tell"
            so_far.told += (secret for secret in planter.secrets if secret in whole)
            so_far.refused += got.called == []
    return so_far


@pytest.mark.parametrize("pack", PACKS)
def test_nothing_of_a_strangers_record_is_told(client: Client, pack: str) -> None:
    async def scenario() -> None:
        result = await account(client, pack, load_domain(pack))
        assert result.told == []
        assert result.refused > len(samples(pack)) / 2

    run(scenario())


@pytest.mark.parametrize("pack", ["shop", "retail"])
def test_it_is_the_rules_of_identity_that_keep_it(pack: str) -> None:
    """Without them the other rules would tell: the secrets are where rules look."""
    domain = load_domain(pack)
    others = tuple(rule for rule in domain.predicates if not rule.identity)

    async def scenario() -> None:
        result = await account(Client(CHAT, False), pack, replace(domain, predicates=others))
        assert result.told

    run(scenario())
