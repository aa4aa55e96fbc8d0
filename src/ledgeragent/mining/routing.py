"""Routing: for every read, what its returns are records of and which keys tell them apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ledgeragent.compiler.guesses import words_of
from ledgeragent.compiler.nouns import noun_of, plural
from ledgeragent.mining.asking import unlabelled
from ledgeragent.mining.conduct import Conduct, is_key_name, list_field
from ledgeragent.mining.families import Family, MinedRoute
from ledgeragent.mining.profile import Profile

_USABLE = re.compile(r"\w+")
_OWN_ID = re.compile(r"id|\w+_id|\w+Id")
_LOCATED = "located"
_FEW_FIELDS = 3
_MOST_OTHERS = 0.2


class Routing:
    """The routes of the reads that were added, and the families that they fill."""

    def __init__(self, required: Mapping[str, Sequence[str]]) -> None:
        self.routes: list[MinedRoute] = []
        self.families: dict[str, Family] = {}
        self._required = required
        self._asked: dict[str, Conduct] = {}

    def add(self, conducts: Sequence[Conduct]) -> None:
        """Finds the routes of these reads: those that are asked by a record's own id come first."""
        for conduct in sorted(conducts, key=self._order):
            self.routes += self._routes(conduct)

    def _order(self, conduct: Conduct) -> tuple[bool, bool]:
        return not self._is_asked_by_id(conduct), "str" in settled(conduct.answer).kinds

    def _parameters(self, conduct: Conduct) -> tuple[str, ...]:
        return tuple(self._required.get(conduct.tool, conduct.required))

    def _is_asked_by_id(self, conduct: Conduct) -> bool:
        return any(conduct.echoing(name) for name in self._parameters(conduct))

    def _routes(self, conduct: Conduct) -> Iterator[MinedRoute]:
        answer = settled(conduct.answer)
        kinds = answer.kinds.keys() - {"null"}
        inside = list_field(answer)
        if kinds == {"list"} or (inside and not self._is_asked_by_id(conduct)):
            yield from self._of_list(conduct, answer, inside or "")
        elif kinds == {"dict"}:
            yield self._of_object(conduct, answer)
        elif kinds:
            yield self._of_value(conduct, answer)

    # ── Objects ─────────────────────────────────────────────────────────────────────────────────

    def _of_object(self, conduct: Conduct, answer: Profile) -> MinedRoute:
        parameters = self._parameters(conduct)
        echoes = {a: f for a in parameters if (f := conduct.echoing(a)) and _USABLE.fullmatch(f)}
        if echoes and not answer.is_map:
            renames = {f: a for a, f in echoes.items() if a != f}
            family = self._family(conduct, tuple(echoes.values()), answer)
            pairs = " and ".join(f"{f} is the argument {a}" for a, f in echoes.items())
            return self._route(conduct, family, answer, renames, why=f"its {pairs}")
        own = [
            n for n, f in answer.fields.items() if _OWN_ID.fullmatch(n) and f.count == answer.count
        ]
        if parameters and own and not answer.is_map:
            return self._of_found(conduct, answer, own)
        family = self._family(conduct, tuple(filter(_USABLE.fullmatch, parameters)), answer)
        return self._route(conduct, family, answer, why=_by_question(family))

    def _of_found(self, conduct: Conduct, answer: Profile, own: Sequence[str]) -> MinedRoute:
        """A record with an id that was not asked for: a lookup, or a record found by something else."""
        small = len(answer.fields) <= _FEW_FIELDS and not any(
            f.fields or f.item for f in answer.fields.values()
        )
        noun = noun_of(unlabelled(conduct.tool))
        key = next((name for name in own if name in (f"{noun}_id", "id")), own[0])
        if not small:
            family = self._family(conduct, (key,), answer)
            return self._route(conduct, family, answer, why=f"its own {key}, not what was asked")
        family = self._singleton(f"{_LOCATED}.{_bare(key) or noun}", noun, answer)
        why = f"it answers with a {key} that was not asked for"
        return self._route(conduct, family, answer, lookup=key, why=why)

    # ── Lists ───────────────────────────────────────────────────────────────────────────────────

    def _of_list(self, conduct: Conduct, answer: Profile, inside: str) -> Iterator[MinedRoute]:
        holder = answer.fields[inside] if inside else answer
        item, nested = _element(holder)
        parameters = self._parameters(conduct)
        usable = tuple(filter(_USABLE.fullmatch, parameters))
        key = _element_key(conduct, item)
        elements = None
        if key:
            keys = tuple(dict.fromkeys((*key, *_telling(conduct, key[0], usable))))
            own = _bare(key[0]) or noun_of(unlabelled(conduct.tool)).removesuffix("s")
            elements = self._family(conduct, keys, item, noun=own)
            why = f"every element has its own {' and '.join(key)}"
            yield self._route(conduct, elements, item, inside=inside, each=True, why=why)
        noun = noun_of(unlabelled(conduct.tool))
        name = plural(noun)
        if elements is not None and name == elements.name:
            name = f"{elements.noun}_lists"
        family = self._family(conduct, usable, holder, name=name)
        if elements is not None:
            family.lists, family.nested = elements, nested
        yield self._route(conduct, family, holder, inside=inside, why=_by_question(family))

    # ── Other values ────────────────────────────────────────────────────────────────────────────

    def _of_value(self, conduct: Conduct, answer: Profile) -> MinedRoute:
        key = self._named_by(conduct)
        if key is not None:
            family = self._singleton(f"{_LOCATED}.{key[1]}", key[1], answer)
            why = f"it answers with keys of {key[0]}: {key[2]} of {key[3]} different ones were read"
            return self._route(conduct, family, answer, lookup=key[0], why=why)
        usable = tuple(filter(_USABLE.fullmatch, self._parameters(conduct)))
        name = "_".join(_words(conduct.tool)) if "str" in answer.kinds else None
        family = self._family(conduct, usable, answer, name=name)
        family.written.add(conduct.written)
        return self._route(conduct, family, answer, why=_by_question(family))

    def _named_by(self, conduct: Conduct) -> tuple[str, str, int, int] | None:
        """(family, key, values in common, values) of the records that a tool's texts are keys of."""
        for route in self.routes:
            if len(route.family.keys) != 1 or not route.family.holds_objects or route.each:
                continue
            (key,) = route.family.keys
            questioned = self._asked[route.tool].asked.get(route.renames.get(key, key))
            common, compared = (
                conduct.texts.within(questioned) if questioned is not None else (0, 0)
            )
            if common >= 2 and 2 * common >= compared:
                return route.family.name, key, common, compared
        return None

    # ── Families ────────────────────────────────────────────────────────────────────────────────

    def _route(
        self,
        conduct: Conduct,
        family: Family,
        own: Profile,
        renames: Mapping[str, str] | None = None,
        *,
        inside: str = "",
        each: bool = False,
        lookup: str = "",
        why: str = "",
    ) -> MinedRoute:
        self._asked[conduct.tool] = conduct
        return MinedRoute(
            tool=conduct.tool,
            family=family,
            own=own,
            parameters=self._parameters(conduct),
            renames=renames or {},
            inside=inside,
            each=each,
            lookup=lookup,
            why=why,
        )

    def _singleton(self, name: str, noun: str, profile: Profile) -> Family:
        family = self.families.get(name)
        if family is None:
            family = self.families[name] = Family(name=name, keys=(), noun=noun)
        family.profile.merge(profile)
        return family

    def _family(
        self,
        conduct: Conduct,
        keys: tuple[str, ...],
        profile: Profile,
        *,
        noun: str | None = None,
        name: str | None = None,
    ) -> Family:
        """The family with these keys whose records are alike; a new one where there is none."""
        own = keys[0] if len(keys) == 1 and keys[0] != "id" and is_key_name(keys[0]) else ""
        noun = noun or _bare(own) or noun_of(unlabelled(conduct.tool))
        for title in (name or plural(noun), "_".join(_words(conduct.tool)), conduct.tool):
            family = self.families.get(title)
            if family is None:
                family = self.families[title] = Family(name=title, keys=keys, noun=noun)
            elif family.keys != keys or not _alike(family.profile, profile):
                continue
            family.profile.merge(profile)
            return family
        raise AssertionError(f"two tools are called {conduct.tool}")


def settled(answer: Profile) -> Profile:
    """What a tool answers with, without the few answers in words beside records."""
    records = answer.kinds["dict"] + answer.kinds["list"]
    if records and answer.kinds["str"] <= _MOST_OTHERS * records:
        return answer.without("str", "null", "bool")
    return answer


def _element(holder: Profile) -> tuple[Profile, bool]:
    """(what the elements of these lists are; whether they stand in lists of lists)."""
    item = holder.item or Profile()
    nested = item.kinds.keys() == {"list"}
    return (item.item or Profile() if nested else item), nested


def _element_key(conduct: Conduct, item: Profile) -> tuple[str, ...]:
    """The field (or a field and a day) that tells the elements of a list apart; () for none."""
    if item.kinds.keys() != {"dict"} or item.is_map:
        return ()
    always = {n for n, f in item.fields.items() if f.count == item.count and _USABLE.fullmatch(n)}
    ids: list[tuple[str, ...]] = [
        (name,) for name in item.fields if name in always and is_key_name(name)
    ]
    dated = [names for names in conduct.telling if len(names) > 1 and always.issuperset(names)]
    apart = [names for names in ids if conduct.telling[names] >= 0.9 * conduct.lists]
    apart = apart or [n for n in dated if conduct.telling[n] >= 0.9 * conduct.lists]
    noun = noun_of(unlabelled(conduct.tool)).removesuffix("s")
    own = [names for names in apart if names[0] in ("id", f"{noun}_id")]
    best = own or apart
    return best[0] if best else ()


def _telling(conduct: Conduct, key: str, parameters: Sequence[str]) -> tuple[str, ...]:
    """The arguments that tell elements with one key apart: days, and those of lists that clash."""
    days = [p for p in parameters if p in conduct.arguments and conduct.arguments[p].is_always_day]
    clashes = conduct.clashes[key, ""]
    explained = [p for p in days if conduct.clashes[key, p] >= 0.9 * clashes]
    if clashes and not explained:
        best = max(parameters, key=lambda p: conduct.clashes[key, p], default=None)
        explained = [best] if best and conduct.clashes[key, best] >= 0.9 * clashes else []
    return tuple(name for name in dict.fromkeys((*days, *explained)) if name != key)


def _alike(one: Profile, other: Profile) -> bool:
    """True if two reads give one kind of record."""
    if one.kinds.keys() - {"null"} != other.kinds.keys() - {"null"} or one.is_map != other.is_map:
        return False
    if one.kinds.keys() == {"dict"} and not one.is_map:
        common = one.fields.keys() & other.fields.keys()
        return 2 * len(common) >= min(len(one.fields), len(other.fields))
    return True


def _bare(key: str) -> str:
    """The thing that a key is of: `order` for `order_id`, \"\" for a bare `id`."""
    return re.sub(r"_?(?:[Ii]d|number|code|key)$", "", key)


def _words(tool: str) -> list[str]:
    words = words_of(unlabelled(tool))
    return words[1:] or words


def _by_question(family: Family) -> str:
    if not family.keys:
        return "it is asked without arguments"
    return f"by what was asked: {', '.join(family.keys)}"
