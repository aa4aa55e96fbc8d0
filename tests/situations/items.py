"""Items and payments of the shop, and replies of several calls, from the policy's text alone."""

from __future__ import annotations

from tests.packs.retail.talk import (
    CARD,
    FRIEND,
    GIFT,
    HAT,
    NEW_ADDRESS,
    PAYPAL,
    SECOND,
    SHOE,
    SHOE_BLACK,
    SHOE_GONE,
    SHOES,
    address,
    cancel,
    exchange,
    give_back,
    modify,
    order,
    payment,
    profile,
    shoes,
    user,
)

from .retail_world import (
    DELIVERED,
    HELLO,
    KNOWN,
    PENDING,
    PRODUCT,
    PROFILE,
    SWAP,
    find,
    read,
    two_orders,
)
from .rows import Rows, done, may

ROWS = Rows("retail", "item")
add, policy = ROWS.add, ROWS.policy

policy("an available new item of the same product but of a different option")
for old, new, accept in (
    ([SHOE], [SHOE_BLACK], "allow"),
    ([SHOE], [SHOE_GONE], "reject"),
    ([SHOE], [SHOE], "reject"),
    ([SHOE], [HAT], "reject"),
    ([SHOE], ["9999"], "reject"),
    ([SHOE], [SHOES], "reject"),
    ([SHOE], [], "reject"),
    ([], [], "reject"),
    ([SHOE, SHOE], [SHOE_BLACK, SHOE_BLACK], "reject"),
    ([SHOE], [SHOE_BLACK, SHOE_BLACK], "reject"),
    ([SHOE_BLACK], [SHOE], "reject"),
    (f'["{SHOE}"]', f'["{SHOE_BLACK}"]', "allow"),
    (SHOE, SHOE_BLACK, "reject"),
    ([int(SHOE)], [int(SHOE_BLACK)], "reject or ask"),
    ([None], [SHOE_BLACK], "reject"),
    (None, None, "reject"),
    ({SHOE: 1}, [SHOE_BLACK], "reject"),
):
    add(f"modify {old!r} to {new!r}", *KNOWN, PENDING, may(accept, modify(old, new)))
    add(f"exchange {old!r} for {new!r}", *KNOWN, DELIVERED, may(accept, exchange(old, new)))
add("the product unread", HELLO, find(), PROFILE, PENDING, may("ask", SWAP))
add(
    "only the item read",
    HELLO,
    find(),
    PROFILE,
    PENDING,
    read({"item_id": SHOE_BLACK, "options": {}, "available": True, "price": 65.0}),
    may("allow or ask", SWAP),
)
sold = shoes()
sold["variants"][SHOE_BLACK]["available"] = "false"
add("available is text", HELLO, find(), PROFILE, read(sold), PENDING, may("reject or ask", SWAP))
gone = shoes()
gone["variants"][SHOE_BLACK]["available"] = None
add("available is null", HELLO, find(), PROFILE, read(gone), PENDING, may("reject or ask", SWAP))
add("exchange of a pending order", *KNOWN, PENDING, may("reject", exchange([SHOE], [SHOE_BLACK])))
add("modify of a delivered order", *KNOWN, DELIVERED, may("reject", SWAP))

policy("a gift card must have enough balance to cover the price difference")
for balance, accept in (
    (15.0, "allow"),
    (14.99, "reject"),
    ("15.00", "allow or ask"),
    ("lots", "reject or ask"),
    (None, "reject or ask"),
    (-1, "reject"),
):
    for call, known in ((modify, PENDING), (exchange, DELIVERED)):
        add(
            f"{call.__name__}: 15 more, {balance!r} on the card",
            HELLO,
            find(),
            read(user(balance=balance)),
            PRODUCT,
            known,
            may(accept, call([SHOE], [SHOE_BLACK], GIFT)),
        )
for chosen, accept in (
    (PAYPAL, "allow"),
    ("gift_card_99", "reject"),
    ("credit_card_0", "reject"),
    ("paypal", "reject"),
    ("", "reject"),
    (None, "reject"),
):
    add(f"items paid with {chosen!r}", *KNOWN, PENDING, may(accept, SWAP, payment_method_id=chosen))
add(
    "a refund to an empty gift card",
    HELLO,
    find(),
    read(user(balance=0.0)),
    read(shoes(price=40.0)),
    PENDING,
    may("allow", modify([SHOE], [SHOE_BLACK], GIFT)),
)

policy("a single payment method different from the original; a gift card must cover the total")
for chosen, accept in (
    (PAYPAL, "allow"),
    (CARD, "reject"),
    (GIFT, "reject"),
    ("gift_card_99", "reject"),
    ([PAYPAL], "reject"),
    (None, "reject"),
):
    add(f"payment {chosen!r}", *KNOWN, PENDING, may(accept, payment(chosen)))
for balance, accept in ((70.0, "allow"), (69.99, "reject")):
    add(
        f"70 in all, {balance} on the card",
        HELLO,
        find(),
        read(user(balance=balance)),
        PENDING,
        may(accept, payment(GIFT)),
    )
add(
    "back to the first method",
    *KNOWN,
    PENDING,
    done(payment(PAYPAL), "done"),
    read(order()),
    may("reject", payment(CARD)),
)

policy("the refund must go to the original payment method or an existing gift card")
for chosen, accept in (
    (CARD, "allow"),
    (GIFT, "allow"),
    (PAYPAL, "reject"),
    ("gift_card_99", "reject"),
    ("", "reject"),
    (None, "reject"),
):
    add(f"refund to {chosen!r}", *KNOWN, DELIVERED, may(accept, give_back([SHOE], chosen)))
for items, accept in (
    ([SHOE, HAT], "allow"),
    ([SHOE, SHOE], "reject"),
    ([], "reject"),
    (["9999"], "reject"),
    ([SHOES], "reject"),
    (SHOE, "reject"),
    ([f" {SHOE}"], "reject"),
    (f'["{SHOE}", "{HAT}"]', "allow"),
):
    add(f"return {items!r}", *KNOWN, DELIVERED, may(accept, give_back(items)))
add(
    "original method, the profile unread", HELLO, find(), DELIVERED, may("allow", give_back([SHOE]))
)
add("gift card, the profile unread", HELLO, find(), DELIVERED, may("ask", give_back([SHOE], GIFT)))

policy("replies of several calls")
ANY = "allow or reject or ask"
for first, second in (
    (cancel(), address()),
    (cancel(), payment(PAYPAL)),
    (SWAP, cancel()),
    (SWAP, SWAP),
    (SWAP, address()),
    (SWAP, payment(PAYPAL)),
    (cancel(), cancel()),
):
    add(
        f"{first.name}, {second.name}",
        *KNOWN,
        PENDING,
        may("allow", first),
        may(ANY, second),
        not_all=True,
    )
back, swapped = give_back([HAT]), exchange([SHOE], [SHOE_BLACK])
for first, second in (
    (back, swapped),
    (swapped, back),
    (back, give_back([SHOE])),
    (swapped, swapped),
):
    add(
        f"{first.name}, {second.name}",
        *KNOWN,
        DELIVERED,
        may("allow", first),
        may(ANY, second),
        not_all=True,
    )
add("address, cancel", *KNOWN, PENDING, may("allow", address()), may("allow or ask", cancel()))
add("address, items", *KNOWN, PENDING, may("allow", address()), may("allow or ask", SWAP))
add(
    "two orders cancelled",
    HELLO,
    find(),
    *two_orders(),
    may("allow", cancel()),
    may("allow", cancel(SECOND)),
)
add(
    "one pending, one processed",
    HELLO,
    find(),
    *two_orders("pending", "processed"),
    may("allow", cancel()),
    may("reject", cancel(SECOND)),
)
add(
    "one's own and a stranger's",
    *KNOWN,
    PENDING,
    read(order(order_id=SECOND, owner=FRIEND)),
    may("reject", cancel(SECOND)),
    may("allow", cancel()),
)
add(
    "two orders to one gift card",
    HELLO,
    find(),
    read(user(balance=100.0)),
    *two_orders(),
    may("allow", payment(GIFT)),
    may(ANY, payment(GIFT, SECOND)),
    not_all=True,
)
add(
    "an order cancelled back to the gift card that is to pay",
    HELLO,
    find(),
    read(user(balance=100.0)),
    read(order(paid_with=GIFT)),
    read(order(order_id=SECOND)),
    may("allow", cancel()),
    may("allow or ask", payment(GIFT, SECOND)),
)
add(
    "own address and the order's", *KNOWN, PENDING, may("allow", profile()), may("allow", address())
)
add(
    "two addresses of one profile",
    *KNOWN,
    may("allow", profile()),
    may("allow or ask", profile(), **{**NEW_ADDRESS, "zip": "1"}),
)
add("an address without a zip", *KNOWN, may("reject", profile(), zip=None))
