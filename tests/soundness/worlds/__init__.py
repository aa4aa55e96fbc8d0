"""Worlds of the four domains: invented databases and the tools that read and change them."""

from __future__ import annotations

from ..world import World
from .airline import AirlineWorld
from .retail import RetailWorld
from .telecom import TelecomWorld
from .telehealth import TelehealthWorld

WORLDS: dict[str, type[World]] = {
    "airline": AirlineWorld,
    "retail": RetailWorld,
    "telecom": TelecomWorld,
    "telehealth": TelehealthWorld,
}
