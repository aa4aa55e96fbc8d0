"""SVG to PNG, with a font that comes along: where a machine has none, text would be missing."""

from __future__ import annotations

from importlib.resources import files

from ledgeragent.errors import MissingExtraError

_ZOOM = 2
_FONTS = ("Roboto-Regular.ttf", "Roboto-Bold.ttf")


def png(svg: str) -> bytes:
    """The picture on white ground, twice its size; MissingExtraError without the extra `figures`."""
    try:
        import resvg_py

        folder = files("font_roboto") / "files"
    except ImportError:
        raise MissingExtraError("resvg-py", "figures") from None
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            background="#ffffff",
            zoom=_ZOOM,
            skip_system_fonts=True,
            font_files=[str(folder / name) for name in _FONTS],
            font_family="Roboto",
            sans_serif_family="Roboto",
        )
    )
