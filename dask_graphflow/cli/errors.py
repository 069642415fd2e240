"""Errors as one line, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from dask_graphflow.exceptions import GraphflowError, VertexTypeError

# Options that are not called like the argument of the function: --columns says how files are read.
FURTHER = {"columns": "edge_columns"}


def explained(error: Exception, command: click.Command | None) -> str:
    """Return the message of an error, with advice if the error does not include any."""
    options = [p.name for p in command.params if isinstance(p, click.Option)] if command else []
    message = in_options(str(error), [name for name in options if name])
    if isinstance(error, VertexTypeError):
        return (
            f"{message}. This advice is for Python; on the command line, --text-ids reads the ids of text "
            "files as text, and --dtype sets the types of columns"
        )
    if isinstance(error, GraphflowError):
        return message
    if isinstance(error, MemoryError):
        return "out of memory; set --blocksize to a smaller size, or --memory-limit for workers that spill"
    if type(error).__name__ == "KilledWorker":
        return (
            "a worker process died several times, probably because it ran out of memory; "
            "raise --memory-limit, or lower --workers"
        )
    return f"{type(error).__name__}: {error} (--debug shows the traceback)"


def in_options(text: str, names: Iterable[str]) -> str:
    """Replace the library's arguments in a text by options, such as dropna=True by --dropna."""
    names = list(names)
    for name, own in FURTHER.items():
        if own in names:  # errors about reading files name the argument without a value
            text = re.sub(rf"\b{name}=(?=['\"\[])", f"{own}=", text)
    known = "|".join(names)
    for pattern, option in (
        (rf"\bgive ({known})=None\b", r"leave out --\1"),
        (rf"\b({known})=True\b", r"--\1"),
        (rf"\b({known})=False\b", r"--no-\1"),
        (rf"\b({known})=(?=[\w'\"\[({{-]|\.\d)", r"--\1 "),
        (rf"\b({known})=", r"--\1"),
    ):
        text = re.sub(pattern, option, text)
    text = re.sub(r"--[\w-]+", lambda option: option[0].replace("_", "-"), text)
    return text.replace("--no-directed", "--undirected")
