"""Check that two results are the same, for frames of cuDF and pandas."""

from __future__ import annotations

from typing import Any

from benchmarks.errors import DisagreementError


def equal(name: str, found: tuple[Any, Any], truth: tuple[Any, Any]) -> None:
    """Raise unless arrays of vertices and components equal the expected ones."""
    (vertices, components), (expected, smallest) = found, truth
    if len(vertices) != len(expected):
        raise DisagreementError(
            f"{name} has {len(vertices):,} vertices, and {len(expected):,} have an edge"
        )
    for what, one, other in (
        ("vertices", vertices, expected),
        ("components", components, smallest),
    ):
        wrong = int((one != other).sum())
        if wrong:
            at = int((one != other).argmax())
            raise DisagreementError(
                f"{name} has {wrong:,} wrong {what}; the first, in row {at}, is {one[at]} and should "
                f"be {other[at]}"
            )


def same_partition(name: str, peer: Any, ours: Any) -> int:
    """Raise unless a peer's labels partition the vertices in the same way as ours.

    A peer may leave out isolated vertices.

    Parameters
    ----------
    name : str
        Name of the peer.
    peer : frame
        Columns ``vertex`` and ``labels``, in any order and numbering.
    ours : frame
        Columns ``vertex`` and ``component``.

    Returns
    -------
    int
        Number of vertices that the peer left out.
    """
    both = ours.merge(peer, on="vertex", how="left")
    known = both["labels"].notna()
    there = both[known]
    if len(both) != len(ours) or len(there) != len(peer):
        raise DisagreementError(
            f"{name} has {len(peer):,} vertices of which {len(there):,} are among ours, {len(ours):,}"
        )
    missing = both[~known]
    if len(missing) and (
        not missing["component"].is_unique
        or bool(missing["component"].isin(there["component"]).any())
    ):
        raise DisagreementError(f"{name} left out {len(missing):,} vertices that are not alone")
    pairs = there[["component", "labels"]].drop_duplicates()
    counts = pairs["component"].nunique(), pairs["labels"].nunique()
    if not len(pairs) == counts[0] == counts[1]:
        raise DisagreementError(
            f"{name} has {counts[1]:,} components and we {counts[0]:,}, which overlap in "
            f"{len(pairs):,} ways"
        )
    return len(missing)
