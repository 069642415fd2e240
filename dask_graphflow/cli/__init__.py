"""The command line, ``graphflow``.

The commands import Dask, pandas and PyArrow only when they run, so that ``--help`` and usage errors
respond immediately.

Exit codes: 0, success; 1, an error in the library or the input, reported in one line; 2, incorrect
usage; 130, interrupted.
"""

from __future__ import annotations

import re
import traceback
from typing import IO, Any

import click

from dask_graphflow import __version__
from dask_graphflow.exceptions import GraphflowError, VertexTypeError

from .components import components
from .doctor import doctor
from .generate import generate
from .options import DEBUG

__all__ = ["main"]


class _Failure(click.ClickException):
    """An error as one line, with exit code 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"graphflow: error: {' '.join(self.message.split())}", err=True)


class _Commands(click.Group):
    """A group whose commands always end with one of the exit codes above."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("graphflow: interrupted", err=True)
            ctx.exit(130)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.meta.get(DEBUG):
                traceback.print_exc()
            raise _Failure(_explained(error)) from error


def _explained(error: Exception) -> str:
    """Return the message of an error, with advice if the error does not include any."""
    if isinstance(error, VertexTypeError):
        return (
            f"{_in_options(str(error))}. That is for Python: the command itself only converts ids of CSV "
            "files, with --text-ids or --integer-ids"
        )
    if isinstance(error, GraphflowError):
        return _in_options(str(error))
    if isinstance(error, MemoryError):
        return "out of memory; set --memory-limit, which makes the command read files in smaller blocks"
    if type(error).__name__ == "KilledWorker":
        return (
            "a worker process died several times, probably because it ran out of memory; "
            "raise --memory-limit, or lower --workers"
        )
    return f"{type(error).__name__}: {error} (--debug shows the traceback)"


def _in_options(message: str) -> str:
    """Replace the library's arguments in a message by options, such as dropna=True by --dropna."""
    names = "|".join(p.name for p in components.params if p.name and isinstance(p, click.Option))
    for pattern, option in (
        (rf"\b({names})=True\b", r"--\1"),
        (rf"\b({names})=(?=[\w'\"\[])", r"--\1 "),
        (rf"\b({names})=", r"--\1"),
    ):
        message = re.sub(pattern, option, message)
    return re.sub(r"--\w+", lambda option: option[0].replace("_", "-"), message)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="graphflow")
def main() -> None:
    """Analyze large graphs stored in Parquet or CSV files."""


main.add_command(components)
main.add_command(doctor)
main.add_command(generate)
