"""``graphflow doctor``."""

from __future__ import annotations

import json

import click

from dask_graphflow.cli import options


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for use by programs.")
@options.debug
def doctor(as_json: bool) -> None:
    """Show what this machine can run, and what to install for more.

    Each line is ok, missing or wrong. The exit code is 0 if everything that is needed on a CPU
    works, and 1 otherwise. This command changes nothing and does not use the network.
    """
    from dask_graphflow.showing.tables import as_text

    from .checks import OK, checked

    checks = checked()
    well = all(check.state == OK for check in checks if check.needed)
    if as_json:
        click.echo(
            json.dumps({"ok": well, "checks": [check._asdict() for check in checks]}, indent=1)
        )
    else:
        rows = []
        for check in checks:
            rows.append((check.name, check.state, check.found))
            if check.todo:
                rows.append(("", "do", check.todo))
        click.echo(as_text(rows))
    click.get_current_context().exit(0 if well else 1)
