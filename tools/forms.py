"""The table of forms in which recorded conversations are read, from their descriptions."""

from __future__ import annotations

from ledgeragent.offline.forms.registry import FORMS
from tools.markdown import table


def forms() -> str:
    """One row a form: its name for `--from`, what it is, what it looks like."""
    rows = [
        (f"`{form.name}`", form.title, form.looks.replace("|", "\\|"))
        for form in sorted(FORMS, key=lambda form: form.name)
    ]
    return table(("`--from`", "form", "what it looks like"), rows)
