"""The commands of the command line. :mod:`_graphflow_cli` imports this package when a command runs."""

from __future__ import annotations

import click

from dask_graphflow.api import functions

from .algorithms import algorithm_command
from .convert import convert
from .doctor import doctor
from .estimate import estimate
from .generate import generate
from .info import info
from .shortest_paths import shortest_paths
from .update import update

__all__ = ["ALGORITHMS", "OTHERS", "command"]

OTHERS = {one.name: one for one in (info, convert, update, estimate, generate, doctor) if one.name}
NAMES = sorted([*functions.__all__, shortest_paths.__name__])
ALGORITHMS = {name.replace("_", "-"): name for name in NAMES}


def command(name: str) -> click.Command:
    """Return a command."""
    return OTHERS[name] if name in OTHERS else algorithm_command(ALGORITHMS[name])
