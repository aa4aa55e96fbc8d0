"""Placement: which form of the ledger block an upstream takes, found out by asking, and remembered."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ledgeragent.gateway.errors import UpstreamError
from ledgeragent.session.contextrole import is_about_roles
from ledgeragent.text import visible

log = logging.getLogger("ledgeragent.gateway")

CONTEXT_HEADER = "x-ledgeragent-context"

_REMEMBERED = 256

ModelKey: TypeAlias = tuple[str, str]
"""A format's path, and what a request calls its model."""


class Placements:
    """The forms that the models of one upstream took, where it was not the first that was tried."""

    def __init__(self) -> None:
        self._forms: OrderedDict[ModelKey, str] = OrderedDict()

    def begin(self, path: str, model: str, forms: Sequence[str]) -> Placement:
        """The placement of one request."""
        remembered = self._forms.get((path, model))
        at = 0
        if remembered is not None and remembered in forms:
            at = forms.index(remembered)
        return Placement(self, (path, model), forms, at)

    def remember(self, model: ModelKey, form: str) -> None:
        """Keeps the form that a model took after others were refused."""
        self._forms[model] = form
        self._forms.move_to_end(model)
        if len(self._forms) > _REMEMBERED:
            self._forms.popitem(last=False)
        path, name = model
        log.warning(
            "the upstream refuses the ledger in other forms for model %s at %s, so from now on it "
            "stands as %r; --context-role %s saves the attempt",
            visible(name),
            path,
            form,
            form,
        )


class Placement:
    """The form of the ledger block in one request; `form` changes with what the upstream answers."""

    def __init__(
        self, placements: Placements, model: ModelKey, forms: Sequence[str], at: int = 0
    ) -> None:
        self._placements = placements
        self._model = model
        self._forms = forms
        self._at = at
        self._refusal: UpstreamError | None = None

    @property
    def form(self) -> str:
        """The form to send."""
        return self._forms[self._at]

    def refused(self, problem: UpstreamError) -> None:
        """Goes on to the next form where that may help; else raises what the upstream said first."""
        first = self._refusal or problem
        if self._at + 1 == len(self._forms) or not _is_about_roles(problem):
            raise first
        self._refusal = first
        self._at += 1

    def taken(self) -> None:
        """The upstream took the request in this form."""
        if self._refusal is not None:
            self._refusal = None
            self._placements.remember(self._model, self.form)

    @property
    def headers(self) -> Mapping[str, str]:
        """What the client is told: the form, where it is not the one that is tried first."""
        return {CONTEXT_HEADER: self.form} if self._at else {}


def _is_about_roles(problem: UpstreamError) -> bool:
    return is_about_roles(problem.status, (problem.body or b"").decode("utf-8", "replace"))
