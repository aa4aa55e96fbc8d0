"""Orders of the shop and whose they are, from the policy's text alone."""

from __future__ import annotations

from tests.packs.retail.talk import (
    FRIEND,
    HAT,
    HATS,
    ME,
    PAYPAL,
    SECOND,
    SHOE,
    SHOE_BLACK,
    address,
    cancel,
    exchange,
    give_back,
    item,
    order,
    payment,
    profile,
    user,
)

from .retail_world import DELIVERED, HELLO, KNOWN, PENDING, PROFILE, SWAP, find, named, read
from .rows import Call, Rows, done, may

ROWS = Rows("retail", "order")
add, policy = ROWS.add, ROWS.policy

policy(
    "you have to authenticate the user identity by locating their user id via email or name + zip"
)
for answer, accept in (
    (ME, "allow"),
    (f'"{ME}"', "allow"),
    ({"result": ME}, "allow"),
    ({"result": f'"{ME}"'}, "allow"),
    (f"{ME}\n", "allow"),
    ("Error: user not found", "ask"),
    ("User not found", "ask"),
    ("Unavailable", "ask"),
    ("", "ask"),
    ("null", "ask"),
    ("[]", "ask"),
    ([ME, FRIEND], "ask"),
    (f"The user id is {ME}", "ask"),
    ({"user_id": ME}, "ask or allow"),
    (FRIEND, "reject"),
):
    add(f"the lookup answers {answer!r}", HELLO, find(answer), PENDING, may(accept, cancel()))
add("by name and zip", HELLO, named(), PENDING, may("allow", cancel()))
add("no lookup, all records read", HELLO, PROFILE, PENDING, may("ask", cancel()))
add("the lookup after the order", HELLO, PENDING, find(), may("allow", cancel()))
add(
    "lookup and write in one reply",
    HELLO,
    PENDING,
    Call(*find()[:2], "allow"),
    may("ask", cancel()),
)

policy("you can only help one user per conversation")
FRIENDS = read(order(order_id=SECOND, owner=FRIEND))
add("the order of a friend", *KNOWN, FRIENDS, may("reject", cancel(SECOND)))
add(
    "a friend looked up later",
    *KNOWN,
    PENDING,
    find(FRIEND),
    FRIENDS,
    may("reject", cancel(SECOND)),
)
add("own order after a friend was looked up", *KNOWN, PENDING, find(FRIEND), may("allow", cancel()))
add(
    "mistyped, corrected",
    HELLO,
    find(FRIEND, "ad@example.com"),
    "Sorry: ada@example.com",
    find(),
    PENDING,
    may("allow", cancel()),
)
add(
    "mistyped, the profile opened, corrected",
    HELLO,
    find(FRIEND, "ad@example.com"),
    read(user(FRIEND)),
    "That is not me! My mail is ada@example.com",
    find(),
    PROFILE,
    PENDING,
    may("allow or ask", cancel()),
)
add(
    "mistyped, opened, corrected: the stranger's order",
    HELLO,
    find(FRIEND, "ad@example.com"),
    read(user(FRIEND)),
    "That is not me! My mail is ada@example.com",
    find(),
    PROFILE,
    PENDING,
    FRIENDS,
    may("reject or ask", cancel(SECOND)),
)
add(
    "a friend after a write for oneself",
    *KNOWN,
    PENDING,
    done(cancel(), order("cancelled")),
    "For Bo:",
    find(FRIEND),
    FRIENDS,
    may("reject", cancel(SECOND)),
)
add(
    "a lookup that failed, then one that did not",
    HELLO,
    find("Error: user not found"),
    named(),
    PENDING,
    may("allow", cancel()),
)
add("the friend's profile", *KNOWN, read(user(FRIEND)), may("reject", profile(FRIEND)))
add("own profile", *KNOWN, may("allow", profile()))
add("own profile, never opened", HELLO, find(), may("allow", profile()))
add("own id in capitals", *KNOWN, may("reject or ask", profile(ME.upper())))
add("own id with a space", *KNOWN, may("reject or ask", profile(f"{ME} ")))

policy("an order can only be cancelled if its status is pending; check its status before")
for word, accept in (
    ("pending", "allow"),
    ("processed", "reject"),
    ("delivered", "reject"),
    ("cancelled", "reject"),
    ("pending (item modified)", "reject"),
    ("pending (items modifed)", "reject"),
    ("return requested", "reject"),
    ("exchange requested", "reject"),
    ("Pending", "allow or ask or reject"),
    ("pending ", "allow or ask"),
    ("shipped", "reject or ask"),
    ("", "reject or ask"),
    (None, "reject or ask"),
    (["pending"], "reject or ask"),
    (True, "reject or ask"),
):
    add(f"status {word!r}", HELLO, find(), read(order(word)), may(accept, cancel()))
    if word not in ("pending", "Pending", "pending ", "delivered"):
        add(
            f"address, status {word!r}",
            HELLO,
            find(),
            read(order(word)),
            may("reject or ask", address()),
        )
        add(
            f"return, status {word!r}",
            *KNOWN,
            read(order(word)),
            may("reject or ask", give_back([SHOE])),
        )
add("never read", HELLO, find(), may("ask", cancel()))
add("the read failed", HELLO, find(), read(order(), "Error: order not found"), may("ask", cancel()))
add(
    "another order answered",
    HELLO,
    find(),
    read(order(), order(order_id=SECOND)),
    may("ask", cancel()),
)
add("in a wrapping", HELLO, find(), read(order(), {"result": order()}), may("allow", cancel()))
add(
    "without a status",
    HELLO,
    find(),
    read(order(), {k: v for k, v in order().items() if k != "status"}),
    may("ask", cancel()),
)
add(
    "without its owner",
    HELLO,
    find(),
    read(order(), {k: v for k, v in order().items() if k != "user_id"}),
    may("ask", cancel()),
)
add(
    "pending, then processed",
    HELLO,
    find(),
    PENDING,
    read(order("processed")),
    may("reject", cancel()),
)
add(
    "pending, then the read fails",
    HELLO,
    find(),
    PENDING,
    read(order(), "Error: timeout"),
    may("allow or ask", cancel()),
)
for name in ("#w10", "W10", "#W10 ", "", None, 10, ["#W10"]):
    add(f"id {name!r}", HELLO, find(), PENDING, may("reject or ask", cancel(), order_id=name))
for reason, accept in (
    ("ordered by mistake", "allow"),
    ("No longer needed", "reject"),
    ("no longer needed.", "reject"),
    (" no longer needed", "reject"),
    ("found it cheaper", "reject"),
    (None, "reject"),
    (["no longer needed"], "reject"),
):
    add(f"reason {reason!r}", HELLO, find(), PENDING, may(accept, cancel(), reason=reason))

policy("modify tools can only be called once per order; nothing after that")
CHANGED = order("pending (item modified)", item(SHOE_BLACK, price=65.0), item(HAT, HATS, 20.0))
for after in ("done", CHANGED, {"result": CHANGED}):
    for call in (SWAP, address(), cancel(), payment(PAYPAL)):
        add(
            f"items changed, then {call.name}",
            *KNOWN,
            PENDING,
            done(SWAP, after),
            may("reject or ask", call),
        )
add(
    "items refused, then cancelled",
    *KNOWN,
    PENDING,
    done(SWAP, "Error: unavailable"),
    may("allow", cancel()),
)
add(
    "items lost, then cancelled",
    *KNOWN,
    PENDING,
    done(SWAP, "Error: timeout"),
    may("ask", cancel()),
)
add("address, then items", *KNOWN, PENDING, done(address(), order()), may("allow", SWAP))
add("address, then address", *KNOWN, PENDING, done(address(), order()), may("allow", address()))
add(
    "payment, then items", *KNOWN, PENDING, done(payment(PAYPAL), "done"), may("allow or ask", SWAP)
)
add(
    "returned, then exchanged",
    *KNOWN,
    DELIVERED,
    done(give_back([HAT]), order("return requested")),
    may("reject", exchange([SHOE], [SHOE_BLACK])),
)
add(
    "cancelled, then address",
    *KNOWN,
    PENDING,
    done(cancel(), order("cancelled")),
    may("reject", address()),
)

policy("you can only help one user per conversation: a mistyped lookup is not theirs")
SLIP = find(FRIEND, email="ado@example.com")
THEIRS = read(order(order_id=SECOND, owner=FRIEND))
add(
    "a slip found a stranger, put right",
    HELLO,
    SLIP,
    "ada, sorry",
    find(),
    PENDING,
    may("allow", cancel()),
)
add(
    "a slip found a stranger, put right, the stranger's order read",
    *(HELLO, SLIP, "ada, sorry", find(), THEIRS),
    may("reject", cancel(SECOND)),
)
add(
    "a slip found a stranger, put right, both orders read",
    *(HELLO, SLIP, "ada, sorry", find(), THEIRS, PENDING),
    may("allow", cancel()),
    may("reject", cancel(SECOND)),
)
add(
    "a slip found a stranger, put right, the stranger's profile read",
    *(HELLO, SLIP, "ada, sorry", find(), read(user(FRIEND)), THEIRS),
    may("reject", cancel(SECOND)),
)
add(
    "the stranger's order read, then put right",
    *(HELLO, SLIP, THEIRS, "ada, sorry", find(), PENDING),
    may("allow or reject or ask", cancel()),
    may("allow or reject or ask", cancel(SECOND)),
    not_all=True,
)
