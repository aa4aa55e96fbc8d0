"""Worlds of the domains: invented databases and the tools that read and change them."""

from __future__ import annotations

from ledgeragent import Domain, load_domain

from ..world import World
from .airline import AirlineWorld
from .airline_tau import TauAirlineWorld
from .retail import RetailWorld
from .telecom import TelecomWorld
from .telehealth import TelehealthWorld

WORLDS: dict[str, type[World]] = {
    "airline": AirlineWorld,
    "airline-tau": TauAirlineWorld,
    "retail": RetailWorld,
    "telecom": TelecomWorld,
    "telehealth": TelehealthWorld,
}
"""By domain; a version other than the default one has its name behind the domain's."""


def domain_of(name: str) -> Domain:
    """The domain, in the version, that a world of this name is judged by."""
    return load_domain(WORLDS[name].domain, WORLDS[name].version)
