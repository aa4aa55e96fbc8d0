"""Rules of one pack, each named as the constraint of SOPBench that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from ledgeragent import PathTemplate, predicate, violation
from ledgeragent.paths import Path
from ledgeragent.predicates import Broken, Check, Predicate, View

LOGIN, LOGOUT = "login_user", "logout_user"
AUTHENTICATE = "authenticate_admin_password"

USER = PathTemplate("users.{username}", bool)


class Rules:
    """The rules of a pack, in the order in which they are written."""

    def __init__(self, pack: str) -> None:
        self.pack = pack
        self.all: tuple[Predicate, ...] = ()

    def __call__(self, *tools: str, name: str = "") -> Callable[[Check], Check]:
        """Makes a check into the rule for the constraint of its name, before each of `tools`."""

        def add(check: Check) -> Check:
            named = rule_id(self.pack, name or check.__name__)
            self.all += (predicate(named, guards=tools)(check),)
            return check

        return add


def rule_id(pack: str, constraint: str) -> str:
    """The id of the rule for a constraint."""
    return f"{pack}/{constraint.replace('_', '-').replace(' ', '-')}"


def exists(user: str, ledger: View, *records: PathTemplate[Any]) -> Broken | None:
    """None for a user who has logged in, or of whom a record was read, or the environment knows."""
    logins = (write for write in ledger.writes if write.name == LOGIN)
    if any(_is_of(login, user) for login in logins):
        return None
    if any(was_read(record(user), ledger) for record in records) or ledger[USER(user)]:
        return None
    return violation("{user} has no account", user=user)


def was_read(path: Path[Any], ledger: View) -> bool:
    """True where a record stands at a path: then what it is of exists."""
    entry = ledger.entry(path)
    return entry is not None and entry.typed


def internal_check_username_exist(call: Any, ledger: View) -> Broken | None:
    """The user has an account."""
    return exists(call["username"], ledger)


def logged_in_user(call: Any, ledger: View) -> Broken | None:
    """The user has logged in, and not out again."""
    user = call["username"]
    last = [w.name for w in ledger.writes if w.name in (LOGIN, LOGOUT) and _is_of(w, user)]
    return None if last[-1:] == [LOGIN] else violation("{user} is not logged in", user=user)


def authenticated_admin_password(call: Any, ledger: View) -> Broken | None:
    """The user has authenticated with the admin password, and not logged out since."""
    user = call["username"]
    last = [w.name for w in ledger.writes if w.name in (AUTHENTICATE, LOGOUT) and _is_of(w, user)]
    if last[-1:] == [AUTHENTICATE]:
        return None
    return violation("{user} has not authenticated with the admin password", user=user)


def _is_of(write: Any, user: str) -> bool:
    return bool(write.arguments.get("username") == user)


def within(now: str, start: str, end: str, *, days: int = 0) -> Broken | None:
    """None from `start` to so many days after `end`; else what is wrong."""
    last = datetime.fromisoformat(end) + timedelta(days=days)
    if datetime.fromisoformat(start) <= datetime.fromisoformat(now) <= last:
        return None
    return violation("{now} is not from {start} to {end}", now=now, start=start, end=str(last))
