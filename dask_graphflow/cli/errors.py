"""Errors as one line, in the words of the command line."""

from __future__ import annotations

import re

import click

from dask_graphflow.exceptions import GraphflowError, VertexTypeError


def explained(error: Exception, command: click.Command | None) -> str:
    """Return the message of an error, with advice if the error does not include any."""
    if isinstance(error, VertexTypeError):
        return (
            f"{_in_options(str(error), command)}. That is for Python: the command itself only reads the "
            "ids of text files as text, with --text-ids"
        )
    if isinstance(error, GraphflowError):
        return _in_options(str(error), command)
    if isinstance(error, MemoryError):
        return "out of memory; set --blocksize to a smaller size, or --memory-limit for workers that spill"
    if type(error).__name__ == "KilledWorker":
        return (
            "a worker process died several times, probably because it ran out of memory; "
            "raise --memory-limit, or lower --workers"
        )
    return f"{type(error).__name__}: {error} (--debug shows the traceback)"


def _in_options(message: str, command: click.Command | None) -> str:
    """Replace the library's arguments in a message by options, such as dropna=True by --dropna."""
    options = [p.name for p in command.params if isinstance(p, click.Option)] if command else []
    names = "|".join(name for name in options if name)
    for pattern, option in (
        (rf"\b({names})=True\b", r"--\1"),
        (rf"\b({names})=False\b", r"--no-\1"),
        (rf"\b({names})=(?=[\w'\"\[])", r"--\1 "),
        (rf"\b({names})=", r"--\1"),
    ):
        message = re.sub(pattern, option, message)
    message = re.sub(r"--[\w-]+", lambda option: option[0].replace("_", "-"), message)
    return message.replace("--no-directed", "--undirected")
