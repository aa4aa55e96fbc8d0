"""A loop of your own around `Session`: no library needed, any model."""

from ledgeragent import Reply, Session, ToolCall, load_domain
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.testing import ScriptedModel

CANCEL = ToolCall(name="cancel_order", arguments={"order_id": "G-1007"}, id="c1")
MODEL = ScriptedModel(
    [
        Reply(calls=(CANCEL,)),
        Reply(
            calls=(
                ToolCall(
                    name="find_customer", arguments={"email": "maya.brandt@example.org"}, id="c2"
                ),
                ToolCall(name="get_order", arguments={"order_id": "G-1007"}, id="c3"),
            )
        ),
        Reply(calls=(CANCEL,)),
        Reply(text="I'm sorry: G-1007 is packed already, so I can't cancel it."),
    ]
)

shop = Shop()
session = Session(load_domain("shop"))
session.heard("Please cancel order G-1007.")
feedback = ""
while True:
    reply = MODEL.generate([], session.context(), feedback)
    filtered = session.filter(reply)  # every call judged on one snapshot of the ledger
    for verdict in filtered.verdicts:
        print(f"{verdict.decision.name:<6} {verdict.call}")
    for call in filtered.execute:
        session.observe(shop.execute(call))  # reads are absorbed, writes mark what they touch
    feedback = filtered.feedback
    if not reply.calls:
        print(reply.text)
        break
