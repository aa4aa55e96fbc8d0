"""The shop's rules: one predicate per policy clause that records, arguments or both can decide.

A rule leaves to its neighbours what is theirs (an item that isn't in the order is
`retail/items-in-order`, whatever else is asked of it), and reads further records last, so that
evidence is asked for only where it decides.
"""

from __future__ import annotations

from ledgeragent.packs.retail.items import (
    item_available,
    item_different_option,
    item_pairs,
    item_same_product,
    items_in_order,
)
from ledgeragent.packs.retail.orders import (
    authenticated,
    cancel_pending,
    cancel_reason,
    exchange_delivered,
    modify_pending,
    once_per_order,
    one_user,
    one_user_profile,
    order_observed,
    return_delivered,
)
from ledgeragent.packs.retail.payments import (
    difference_balance,
    payment_balance,
    payment_different,
    payment_in_profile,
    refund_destination,
)
from ledgeragent.packs.retail.transfer import transfer_untried

RULES = (
    authenticated,
    order_observed,
    one_user,
    one_user_profile,
    once_per_order,
    cancel_pending,
    cancel_reason,
    modify_pending,
    return_delivered,
    exchange_delivered,
    items_in_order,
    item_pairs,
    item_different_option,
    item_same_product,
    item_available,
    payment_different,
    payment_in_profile,
    payment_balance,
    difference_balance,
    refund_destination,
    transfer_untried,
)
