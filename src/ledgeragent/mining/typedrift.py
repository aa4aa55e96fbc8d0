"""Drift of types: declared shapes against the values that were returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledgeragent.compiler.shapes import Choice, ListOf, MapOf, Object, Scalar, Shape, is_open
from ledgeragent.mining.profile import Profile

_LEAST_RECORDS = 20
_KINDS = {
    "str": {"str"},
    "date": {"str"},
    "int": {"int"},
    "float": {"int", "float"},
    "bool": {"bool"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeDrift:
    """One place whose values are not what is declared, in `times` of `of` cases.

    `field` is the record type and the field, for one that was never seen.
    """

    code: str
    place: str
    text: str
    times: int
    of: int
    field: tuple[str, str] = ("", "")


def fields_seen(shape: Shape, profile: Profile) -> Iterator[tuple[str, str]]:
    """(record type, field) of every declared field that some value has."""
    if isinstance(shape, ListOf) and profile.item is not None:
        yield from fields_seen(shape.item, profile.item)
    elif isinstance(shape, MapOf) and profile.fields:
        yield from fields_seen(shape.item, profile.inner)
    elif isinstance(shape, Object):
        for name in shape.fields.keys() & profile.fields.keys():
            yield shape.name, name
            yield from fields_seen(shape.fields[name].shape, profile.fields[name])


def type_drift(shape: Shape, profile: Profile, place: str) -> Iterator[TypeDrift]:
    """Where values differ from their shape; `place` is the path that they stand at."""
    if is_open(shape):
        return
    expected = _kinds_of(shape)
    others = {k: n for k, n in profile.kinds.items() if k != "null" and k not in expected and n}
    for kind, times in sorted(others.items()):
        text = f"is declared {shape}, and is {kind} {times:,} of {profile.count:,} times"
        yield TypeDrift(code="type", place=place, text=text, times=times, of=profile.count)
    match shape:
        case Choice(values) if "str" in profile.kinds:
            yield from _outside(values, profile, place)
        case Scalar("date") if "str" in profile.kinds and not profile.is_always_day:
            text = "is declared date, and is other text at times"
            yield TypeDrift(code="type", place=place, text=text, times=1, of=profile.count)
        case ListOf(item) if profile.item is not None:
            yield from type_drift(item, profile.item, f"{place}[]")
        case MapOf(item) if profile.fields:
            yield from type_drift(item, profile.inner, f"{place}{{}}")
        case Object():
            yield from _of_object(shape, profile, place)


def _of_object(shape: Object, profile: Profile, place: str) -> Iterator[TypeDrift]:
    objects = profile.kinds["dict"]
    for name, member in shape.fields.items():
        field, where = profile.fields.get(name), f"{place}.{name}"
        if field is None:
            if objects >= _LEAST_RECORDS:
                text = f"is in none of {objects:,} records"
                own = (shape.name, name)
                yield TypeDrift(
                    code="never-seen", place=where, text=text, times=0, of=objects, field=own
                )
            continue
        lacking = objects - field.count if member.required else 0
        lacking += 0 if member.nullable else field.kinds["null"]
        if lacking:
            text = f"is absent or null in {lacking:,} of {objects:,} records"
            yield TypeDrift(
                code="sometimes-absent", place=where, text=text, times=lacking, of=objects
            )
        yield from type_drift(member.shape, field, where)
    for name in sorted(profile.fields.keys() - shape.fields.keys()):
        times = profile.fields[name].count
        text = f"is not declared, and is in {times:,} of {objects:,} records"
        yield TypeDrift(
            code="undeclared-field", place=f"{place}.{name}", text=text, times=times, of=objects
        )


def _outside(values: tuple[object, ...], profile: Profile, place: str) -> Iterator[TypeDrift]:
    if profile.values is None:
        text = f"is declared one of {len(values)} values, and has far more"
        yield TypeDrift(code="outside-list", place=place, text=text, times=1, of=profile.count)
        return
    for text in sorted(profile.values.keys() - {v for v in values if isinstance(v, str)}):
        why = f"is {text!r} at times, which its list does not have"
        yield TypeDrift(code="outside-list", place=place, text=why, times=1, of=profile.count)


def _kinds_of(shape: Shape) -> set[str]:
    match shape:
        case Scalar(kind):
            return _KINDS[kind]
        case Choice(values):
            return {"int" if isinstance(value, int) else "str" for value in values}
        case ListOf():
            return {"list"}
        case _:
            return {"dict"}
