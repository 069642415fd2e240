"""Start the command line, ``graphflow``, in a package that imports only click.

A command imports Dask and pandas, which takes about a second. It is imported only when it runs, so that
``--help`` and ``--version`` respond immediately. ``python3 dev.py generate`` writes what they show, into
``commands.py`` and ``help.json``.

Exit codes: 0, success; 1, an error in the library or the input, reported in one line; 2, incorrect
usage; 130, interrupted; 143 or 129, ended by SIGTERM or SIGHUP.
"""

from __future__ import annotations

import difflib
import traceback
from typing import IO, Any

import click

from . import signals
from .commands import COMMANDS, VERSION
from .described import asks_for_help, described

__all__ = ["main"]

NAMES = {name: text for commands in COMMANDS.values() for name, text in commands.items()}
EARLIER = {"components": "connected-components"}  # names that are not shown any more


class _Failure(click.ClickException):
    """An error as one line, with exit code 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"graphflow: error: {' '.join(self.message.split())}", err=True)


class _Commands(click.Group):
    """Commands that are imported when they are used, and that always end with one of the exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, for shell completion."""
        return [*NAMES]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        name = EARLIER.get(name, name)
        if name not in NAMES:
            return None
        from dask_graphflow.cli import command

        return command(name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command, or say which one has a similar name."""
        known = {*NAMES, *EARLIER}
        if args[0] not in known and (similar := difflib.get_close_matches(args[0], NAMES)):
            ctx.fail(f"No such command {args[0]!r}; did you mean {similar[0]!r}?")
        if asks_for_help(args[1:]) and args[0] in known:
            command = described(EARLIER.get(args[0], args[0]), args[1:])
            return command.name, command, args[1:]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the commands without importing them."""
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([*commands.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with signals.raised():
                return super().invoke(ctx)
        except signals.Ended as ended:
            click.echo("graphflow: terminated", err=True)
            ctx.exit(ended.code)
        except KeyboardInterrupt:
            click.echo("graphflow: interrupted", err=True)
            ctx.exit(130)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            from dask_graphflow.cli.errors import explained

            if ctx.meta.get("debug"):
                traceback.print_exc()
            raise _Failure(
                explained(error, self.get_command(ctx, str(ctx.invoked_subcommand)))
            ) from error


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"graphflow, version {VERSION}")
        ctx.exit()


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="For example: graphflow pagerank edges.parquet --source a --target b -o ranks.parquet",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Analyze large graphs, whose edges are in files.

    COMMAND --help shows what a command reads, computes and writes.
    """
