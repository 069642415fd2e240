"""What NetworkX or a definition says about each answer, one file per family of functions."""

from __future__ import annotations

from . import (  # noqa: F401  # each of them declares its oracles
    communities,
    components,
    cycles,
    density,
    distance_centralities,
    flows,
    journeys,
    motifs,
    neighborhoods,
    paths,
    ranks,
    sampling,
    similarity,
    vectors,
)
from .oracle import ORACLES
from .verify import confirm, network_of, options_of, verify

__all__ = ["ORACLES", "confirm", "network_of", "options_of", "verify"]
