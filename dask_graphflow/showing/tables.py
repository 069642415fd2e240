"""Small tables: text for a terminal, HTML for a notebook.

Styles are set in each cell, because a notebook does not load a style sheet of this library. They set no
text or background color, so that a table uses the colors of the page, light or dark.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

LINE = "border:1px solid rgba(128,128,128,0.4);padding:0.2em 0.6em;vertical-align:top"
LEFT, RIGHT = f"{LINE};text-align:left", f"{LINE};text-align:right"


def as_text(rows: Rows) -> str:
    """Return rows of cells as lines of text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def as_html(rows: Rows, *, head: Sequence[str] = (), note: str = "") -> str:
    """Return rows of cells as an HTML table with a note below. The text of cells is escaped.

    The first cell of each row is its heading. With a `head`, the columns after the first contain numbers,
    and are right-aligned.
    """
    style = RIGHT if head else LEFT

    def line(row: Sequence[str], tag: str) -> str:
        first, *others = map(html.escape, row)
        cells = "".join(f'<{tag} style="{style}">{cell}</{tag}>' for cell in others)
        return f'<tr><th style="{LEFT}">{first}</th>{cells}</tr>'

    lines = "".join(line(row, "td") for row in rows)
    top = f"<thead>{line(head, 'th')}</thead>" if head else ""
    below = f"<div>{html.escape(note)}</div>" if note else ""
    table = (
        f'<table style="border-collapse:collapse;color:inherit">{top}<tbody>{lines}</tbody></table>'
    )
    return f"<div>{table}{below}</div>"


class Table:
    """An object that prints as a small table, whose rows and other texts its class gives."""

    def _rows(self) -> Rows:
        raise NotImplementedError

    def _head(self) -> Sequence[str]:
        return ()

    def _note(self) -> str:
        return ""

    def __repr__(self) -> str:
        head, note = self._head(), self._note()
        return as_text([*([head] if head else []), *self._rows()]) + (f"\n{note}" if note else "")

    def _repr_html_(self) -> str:
        return as_html(self._rows(), head=self._head(), note=self._note())


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun in the singular or plural.

    Examples
    --------
    >>> counted(1, "vertex", "vertices"), counted(1200, "merge")
    ('1 vertex', '1,200 merges')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(count: float) -> str:
    """Return a number of bytes in the largest unit in which it is at least 1."""
    for unit, each in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= each:
            return f"{count / each:,.1f} {unit}"
    return f"{count:,.0f} bytes"


def duration(seconds: float) -> str:
    """Return seconds with three digits, in a unit that is easy to read."""
    for unit, each in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= each:
            return f"{seconds / each:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
