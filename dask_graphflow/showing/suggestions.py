"""Suggestions at the end of error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .aliases import ALIASES, SENTENCES
from .values import shown

SIMILAR = 0.65  # of 1, as difflib measures it: "alfa" is as similar to "alpha"
MISSPELLED = 0.85  # at least as similar as a word with one wrong letter


def nearest(name: object, candidates: Iterable[object]) -> str:
    """Return a clause for the end of an error message that suggests the candidate that was meant.

    That is the candidate with the same meaning in another library, or the one with the most similar
    spelling.

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
    >>> nearest("damping", ["alpha", "dangling"])
    "; did you mean 'alpha'?"
    >>> nearest("sideways", ["push", "pull"])
    ''
    """
    text = name if isinstance(name, str) else shown(name)
    allowed = [str(candidate) for candidate in candidates]
    meant = same_meaning(text, allowed) or _same_spelling(text, allowed)
    return f"; did you mean {meant!r}?" if meant else ""


def _same_spelling(text: str, candidates: list[str]) -> str | None:
    """Return the candidate with the most similar spelling, or None."""
    # A word that means something in another library is rarely a misspelling of another word.
    foreign = text.lower() in ALIASES or text.lower() in SENTENCES
    cutoff = MISSPELLED if foreign else SIMILAR
    lower = {candidate.lower(): candidate for candidate in reversed(candidates)}
    close = difflib.get_close_matches(text.lower(), lower, n=1, cutoff=cutoff)
    return lower[close[0]] if close else None


def same_meaning(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that other libraries call `word`, or None."""
    return next((ours for ours in ALIASES.get(word.lower(), ()) if ours in candidates), None)


def attribute_error(owner: str, name: str, candidates: Iterable[str]) -> AttributeError:
    """Return the error for a name that `owner` does not have, with the public one that was meant."""
    # Libraries look for private names, and expect an answer at once.
    public = [] if name.startswith("_") else [one for one in candidates if not one.startswith("_")]
    return AttributeError(f"{owner} has no attribute {name!r}{nearest(name, public)}")
