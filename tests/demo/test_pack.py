"""The shop's pack: each sample, evidence asked for only where it decides, and what goes stale."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from ledgeragent import Gate, Session, ToolCall, load_domain
from ledgeragent.demo.shop.pack import paths
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.effects import Read
from ledgeragent.testing import judge
from ledgeragent.types import Json, Reply, ToolReturn
from ledgeragent.verdict import Decision, Kind, Verdict

SHOP = load_domain("shop")
SAMPLES = json.loads((files("ledgeragent.demo.shop.pack") / "samples.json").read_text())
ALLOWED = [(rule, sample) for rule, both in SAMPLES.items() for sample in both["allowed"]]
REJECTED = [(rule, sample) for rule, both in SAMPLES.items() for sample in both["rejected"]]


def verdict_on(sample: Json) -> Verdict:
    return judge(SHOP, sample["ledger"], sample["call"]["name"], **sample["call"]["arguments"])


@pytest.mark.parametrize(("id", "sample"), ALLOWED)
def test_an_allowed_sample_passes_every_rule(id: str, sample: Json) -> None:
    verdict = verdict_on(sample)
    assert verdict.allowed, verdict.feedback
    assert not verdict.shadow


@pytest.mark.parametrize(("id", "sample"), REJECTED)
def test_a_rejected_sample_is_rejected_by_its_rule(id: str, sample: Json) -> None:
    found = {finding.predicate: finding for finding in verdict_on(sample).violations}
    assert id in found
    rule = next(rule for rule in SHOP.predicates if rule.id == id)
    assert found[id].decision is rule.decision
    assert found[id].evidence or id in ("shop/box-pause", "shop/last-item")


def test_every_rule_has_samples_of_both_kinds() -> None:
    assert list(SAMPLES) == [rule.id for rule in SHOP.predicates]
    assert all(both["allowed"] and both["rejected"] for both in SAMPLES.values())


def test_every_clause_names_rules_that_exist_and_every_rule_has_a_clause() -> None:
    ids = {rule.id for rule in SHOP.predicates}
    named = {name for clause in SHOP.clauses for name in clause.predicates}
    assert named == ids
    assert {rule.clause for rule in SHOP.predicates} <= {clause.id for clause in SHOP.clauses}


def test_every_write_is_guarded() -> None:
    for tool in paths.WRITES:
        guard = SHOP.guard(tool.tool)
        assert guard is not None and guard.predicates


@pytest.mark.parametrize("route", paths.READS, ids=lambda r: r.tool)
def test_every_route_but_the_lookups_can_be_asked_for(route: Read[object]) -> None:
    path = route.to(*("x" for _ in route.to.keys))
    assert route.tool in {"search_products"} | {call.name for call in SHOP.reads_for(path)}


def live(shop: Shop, *calls: ToolCall) -> Session:
    """A session in which these calls were made and answered by the shop."""
    session = Session(SHOP)
    session.heard("hello")
    for call in calls:
        filtered = session.filter(Reply(calls=(call,)))
        assert filtered.execute, filtered.feedback
        session.observe(shop.execute(call))
    return session


def call(tool: str, **arguments: Json) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments, id=tool)


WHO = call("find_customer", email="noor.haddad@example.com")
ORDER = call("get_order", order_id="G-1020")


def reads_asked(session: Session, wanted: ToolCall) -> set[str]:
    verdict = session.gate.judge(wanted, session.ledger)
    return {str(read) for finding in verdict.missing for read in finding.reads}


def test_whose_order_it_is_comes_first() -> None:
    cancel = call("cancel_order", order_id="G-1020")
    with Shop() as shop:
        assert reads_asked(live(shop), cancel) == {"find_customer()"}
        assert reads_asked(live(shop, WHO), cancel) == {'get_order(order_id="G-1020")'}
        assert reads_asked(live(shop, ORDER), cancel) == {"find_customer()"}


@pytest.mark.parametrize("answer", ['"C-13"', "C-13", '{"result": "C-13"}', " C-13\n"])
def test_a_lookup_is_understood_however_it_is_wrapped(answer: str) -> None:
    assert looked_up(answer).allowed


@pytest.mark.parametrize("answer", ["Unavailable", "", "C-13 or C-14", '["C-13"]', "null", "c-13"])
def test_an_answer_that_is_no_customer_number_identifies_nobody(answer: str) -> None:
    verdict = looked_up(answer)
    assert verdict.decision is Decision.REVISE
    assert not verdict.violations


def looked_up(answer: str) -> Verdict:
    """The verdict on a cancellation after a lookup that was answered so."""
    with Shop() as shop:
        session = live(shop, ORDER)
        session.filter(Reply(calls=(WHO,)))
        session.observe(ToolReturn(call_id=WHO.id, content=answer))
        return session.gate.judge(call("cancel_order", order_id="G-1020"), session.ledger)


def test_a_status_in_other_words_is_no_evidence() -> None:
    with Shop() as shop:
        order = json.loads(shop.execute(ORDER).content)
        for status in ("OPEN", "Packed", "on hold", "", None):
            session = live(shop, WHO)
            session.filter(Reply(calls=(ORDER,)))
            content = json.dumps({**order, "status": status})
            session.observe(ToolReturn(call_id=ORDER.id, content=content))
            verdict = session.gate.judge(call("cancel_order", order_id="G-1020"), session.ledger)
            assert verdict.decision is Decision.REVISE
            assert not verdict.violations


def test_a_smaller_quantity_needs_no_product() -> None:
    with Shop() as shop:
        session = live(shop, WHO, ORDER)
        fewer = call("change_quantity", order_id="G-1020", sku="lavender", quantity=1)
        more = call("change_quantity", order_id="G-1020", sku="lavender", quantity=9)
        assert session.gate.judge(fewer, session.ledger).allowed
        assert reads_asked(session, more) == {'get_product(sku="lavender")'}


def test_a_search_tells_the_kind_but_not_the_stock() -> None:
    with Shop() as shop:
        irish = (
            call("find_customer", email="sean.g@example.ie"),
            call("get_order", order_id="G-1014"),
            call("search_products", text="rose"),
        )
        session = live(shop, *irish)
        plant = call("change_quantity", order_id="G-1014", sku="climbing-rose", quantity=1)
        verdict = session.gate.judge(plant, session.ledger)
        assert [f.predicate for f in verdict.violations] == ["shop/plant-added"]
        assert [f.predicate for f in verdict.missing] == ["shop/in-stock"]


def test_a_search_after_a_read_keeps_the_stock() -> None:
    with Shop() as shop:
        product = call("get_product", sku="climbing-rose")
        session = live(shop, product, call("search_products", text="rose"))
        entry = session.ledger.get(paths.PRODUCT("climbing-rose"))
        assert entry is not None
        assert entry.value["stock"] == 6
        assert entry.origin(("stock",)).source.name == "get_product"


def test_another_customers_order_is_blocked_whatever_is_asked() -> None:
    with Shop() as shop:
        session = live(shop, WHO, call("get_order", order_id="G-1009"))
        verdict = session.gate.judge(call("cancel_order", order_id="G-1009"), session.ledger)
        assert verdict.decision is Decision.BLOCK
        assert "C-18" not in verdict.feedback


def test_nothing_of_what_belongs_to_others_is_told() -> None:
    claim = {"order_id": "G-1021", "parcel_id": "P-33", "sku": "secateurs", "quantity": 1}
    theirs = (
        call("get_order", order_id="G-1009"),
        call("get_parcel", parcel_id="P-33"),
        call("get_voucher", code="ROBIN-25"),
        call("get_box", box_id="B-8"),
    )
    address = {"street": "Kade 3", "postcode": "9000", "city": "Gent", "country": "FR"}
    wrong = (
        call("change_address", order_id="G-1009", **address),
        call("change_quantity", order_id="G-1009", sku="climbing-rose", quantity=0),
        call("apply_voucher", order_id="G-1020", code="ROBIN-25", amount=60.0),
        call("refund_item", **claim, amount=29.0),
        call("send_replacement", **claim),
        call("pause_box", box_id="B-8", months=9),
    )
    secrets = (
        "C-18",
        "C-11",
        "C-14",
        "Hilversum",
        "open",
        "2026-05-11",
        "25.00",
        "active",
        "bulbs",
    )
    with Shop() as shop:
        session = live(shop, WHO, ORDER, call("get_order", order_id="G-1021"), *theirs)
        for wanted in wrong:
            filtered = session.filter(Reply(calls=(wanted,)))
            assert filtered.execute == ()
            for told in (filtered.refusal, filtered.feedback):
                assert not any(secret in told for secret in secrets), told


def test_a_write_makes_stale_what_it_changed_and_nothing_else() -> None:
    with Shop() as shop:
        address = {"street": "Kade 3", "postcode": "9000", "city": "Gent", "country": "BE"}
        session = live(shop, WHO, ORDER, call("change_address", order_id="G-1020", **address))
        assert session.gate.judge(call("cancel_order", order_id="G-1020"), session.ledger).allowed
        more = call("change_quantity", order_id="G-1020", sku="lavender", quantity=9)
        assert 'get_order(order_id="G-1020")' in reads_asked(session, more)


def test_cancelling_makes_the_vouchers_and_stock_it_gives_back_stale() -> None:
    with Shop() as shop:
        session = live(
            shop,
            call("find_customer", email="lotte@weiss.example"),
            call("get_order", order_id="G-1017"),
            call("get_voucher", code="MAY-10"),
            call("get_product", sku="climbing-rose"),
            call("cancel_order", order_id="G-1017"),
        )
        marks = {
            f"{entry.path}.{'.'.join(mark.fields)}"
            for entry in session.ledger
            for mark in entry.stale
        }
        assert {"vouchers.MAY-10.balance", "products.climbing-rose.stock"} <= marks
        assert "orders.G-1017.status" in marks


def test_every_touched_field_exists_in_the_record_it_is_of() -> None:
    with Shop() as shop:
        session = live(shop, *(call("get_order", order_id=o) for o in ("G-1020", "G-1017")))
        records = shop.snapshot()
        arguments = {
            "order_id": "G-1017",
            "sku": "climbing-rose",
            "code": "MAY-10",
            "parcel_id": "P-33",
            "box_id": "B-3",
        }
        for write in paths.WRITES:
            for touches in write.touches:
                for touched in touches(arguments, session.ledger):
                    value = records[touched.path[0]][touched.path[1]]
                    for name in touched.fields:
                        value = value[name]


def test_what_a_tool_changes_is_declared_as_touched() -> None:
    """Executes each write and compares the database with what the pack says it changed."""
    claim = {"order_id": "G-1012", "parcel_id": "P-33", "sku": "secateurs", "quantity": 1}
    address = {"street": "Kade 3", "postcode": "9000", "city": "Gent", "country": "BE"}
    writes = [
        call("cancel_order", order_id="G-1017"),
        call("change_address", order_id="G-1017", **address),
        call("change_quantity", order_id="G-1017", sku="lavender", quantity=2),
        call("apply_voucher", order_id="G-1017", code="SWIFT-30", amount=3.0),
        call("refund_item", **claim, amount=24.5),
        call("send_replacement", **claim),
        call("pause_box", box_id="B-3", months=1),
        call("end_box", box_id="B-3"),
    ]
    assert {write.name for write in writes} == {write.tool for write in paths.WRITES}
    for write in writes:
        with Shop() as shop:
            session = live(shop, call("get_order", order_id="G-1017"))
            tool = SHOP.tool(write.name)
            assert tool is not None and not isinstance(tool, Read) and hasattr(tool, "touches")
            touched = {
                ".".join((*touch.path, *touch.fields))
                for touches in tool.touches
                for touch in touches(write.arguments, session.ledger)
            }
            assert not shop.execute(write).failed
            for change in shop.diff():
                assert any(
                    change.path == path or change.path.startswith(f"{path}.") for path in touched
                ), f"{write.name} changes {change.path}"


def test_without_a_tool_for_the_evidence_a_rule_is_undecided() -> None:
    bound = SHOP.bind({tool.tool for tool in SHOP.tools} - {"get_product", "search_products"})
    with Shop() as shop:
        session = live(shop, WHO, ORDER)
        more = call("change_quantity", order_id="G-1020", sku="lavender", quantity=9)
        verdict = Gate(domain=bound).judge(more, session.ledger)
        assert verdict.decision is Decision.BLOCK
        assert [(f.predicate, f.kind) for f in verdict.findings] == [
            ("shop/in-stock", Kind.UNDECIDED)
        ]


def test_no_rule_fails_on_odd_arguments() -> None:
    odd: list[Json] = ["", "G-1020", "\n", "a.b", 0, -1, 10**30, 1.5]
    with Shop() as shop:
        calls = [
            ORDER,
            WHO,
            call("get_product", sku="lavender"),
            call("get_voucher", code="WREN-80"),
        ]
        session = live(shop, *calls, call("get_parcel", parcel_id="P-33"))
        names = {"order_id", "sku", "code", "parcel_id", "box_id", "quantity", "amount", "months"}
        known = {"order_id": "G-1020", "sku": "lavender", "code": "WREN-80", "parcel_id": "P-33"}
        rest = {"box_id": "B-3", "quantity": 1, "amount": 1.0, "months": 1, "street": "x"}
        usual = {**known, **rest, "postcode": "x", "city": "x", "country": "NL"}
        for write in paths.WRITES:
            for name in write.arguments.__annotations__.keys() & names:
                for value in odd:
                    wanted = ToolCall(name=write.tool, arguments={**usual, name: value})
                    assert not Gate(domain=SHOP).judge(wanted, session.ledger).errors
