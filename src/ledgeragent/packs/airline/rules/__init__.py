"""The airline's rules: one predicate per policy clause that records, arguments and clock can decide."""

from __future__ import annotations

from ledgeragent.packs.airline.rules.bags import bag_allowance, bags_no_removal
from ledgeragent.packs.airline.rules.booking import (
    booking_total,
    passenger_details,
    passenger_limit,
)
from ledgeragent.packs.airline.rules.cancel import cancel_basis, cancel_flown
from ledgeragent.packs.airline.rules.changes import (
    basic_economy_flights,
    cabin_change_flown,
    flight_available,
    passenger_count,
    same_route,
    same_trip_type,
)
from ledgeragent.packs.airline.rules.compensation import (
    compensation_amount,
    compensation_delay_after_change,
    compensation_eligibility,
    compensation_facts,
    compensation_repeated,
)
from ledgeragent.packs.airline.rules.customer import acting_user, reservation_observed
from ledgeragent.packs.airline.rules.payment import (
    change_payment_type,
    payment_in_profile,
    payment_mix,
)
from ledgeragent.packs.airline.rules.transfer import transfer_untried

RULES = (
    acting_user,
    reservation_observed,
    passenger_limit,
    passenger_details,
    payment_in_profile,
    payment_mix,
    booking_total,
    bag_allowance,
    bags_no_removal,
    flight_available,
    basic_economy_flights,
    same_route,
    same_trip_type,
    cabin_change_flown,
    passenger_count,
    change_payment_type,
    cancel_flown,
    cancel_basis,
    compensation_facts,
    compensation_eligibility,
    compensation_amount,
    compensation_delay_after_change,
    compensation_repeated,
    transfer_untried,
)
"""Every rule, in the order in which findings are told."""
