"""Suggestions at the end of error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .values import shown


def nearest(name: object, candidates: Iterable[object]) -> str:
    """Return a clause for the end of an error message that suggests the most similar candidate.

    Parameters
    ----------
    name : object
        The value that was given.
    candidates : iterable
        The values that are allowed.

    Returns
    -------
    str
        Empty if no candidate is similar.

    Examples
    --------
    >>> nearest("pul", ["push", "pull"])
    "; did you mean 'pull'?"
    >>> nearest("sideways", ["push", "pull"])
    ''
    """
    text = name if isinstance(name, str) else shown(name)
    close = difflib.get_close_matches(text, [str(c) for c in candidates], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
