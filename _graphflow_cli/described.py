"""The help of the commands, from the file that ``python3 dev.py generate`` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

HELP = Path(__file__).with_name("help.json")
ASKED = ("-h", "--help")


def asks_for_help(args: list[str]) -> bool:
    """Say whether the arguments of a command ask for its help."""
    options = args[: args.index("--")] if "--" in args else args
    return any(option in ASKED for option in options)


def described(name: str, args: list[str]) -> click.Command:
    """Return a command that only shows the help of the command `name`, or of its subcommand in `args`."""
    content = json.loads(HELP.read_text("utf-8"))
    if (longer := f"{name} {args[0]}") in content["commands"]:
        name = longer
    return _Described(name, content["commands"][name], content["options"])


class _Described(click.Command):
    """A command that is not imported, with the help in the file."""

    def __init__(self, name: str, about: dict[str, Any], helps: dict[str, str]) -> None:
        super().__init__(name, help=about["help"], epilog=about["epilog"])
        self._about, self._helps = about, helps

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help, whatever else was given."""
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return what follows the name of the command."""
        pieces: list[str] = self._about["usage"]
        return pieces

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the commands of a group."""
        for title, rows in self._about["sections"].items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (row, self._helps[row]) if isinstance(row, str) else tuple(row)
                        for row in rows
                    ]
                )
