"""A hook of the documentation site: links that lead out of docs/ keep their words and lose the link.

On a code host they lead to the file. The site does not hold those files, so there the name is enough;
with `repo_url` set in mkdocs.yml they lead to the repository.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """The page's Markdown as the site can show it."""
    folder = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def rebased(link: re.Match[str]) -> str:
        words, target, anchor = link[1], link[2], link[3] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        if path.startswith("docs/"):
            return link[0]
        if not config.get("repo_url"):
            return words
        return f"[{words}]({config['repo_url'].rstrip('/')}/blob/HEAD/{path}{anchor})"

    return _LINK.sub(rebased, markdown)
