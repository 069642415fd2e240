"""Random cases on small graphs, and the smallest case that fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any
from unittest.mock import patch

import oracles
from oracles.networks import GRAIN, Asker, Form, Network
from oracles.oracle import Outcome

from dask_graphflow.graph import partition

from . import relations

PATIENCE = 40.0  # seconds to look for a smaller case


@dataclass(frozen=True)
class GraphCase:
    """A check of calls on a graph."""

    check: Callable[[Asker, Network, dict[str, Any]], Outcome]
    network: Network
    options: dict[str, Any]
    form: Form
    other: Form

    def run(self) -> Outcome:
        """Run the check. An error has a note with the calls of the smallest case that fails alike."""
        asker = Asker(self.form, self.other)
        with ExitStack() as stack:
            stack.enter_context(patch.object(partition, "GRAIN", GRAIN))
            try:
                return self.check(asker, self.network, self.options)
            except Exception as error:
                smallest = self.smallest(error, time.monotonic() + PATIENCE)
                raise smallest.error() or error from None

    def error(self) -> Exception | None:
        """Return the error of the check, if there is one."""
        asker = Asker(self.form, self.other)
        try:
            self.check(asker, self.network, self.options)
        except Exception as error:
            error.add_note("\n\n".join(["To reproduce:", *asker.scripts]))
            return error
        return None

    def smallest(self, error: Exception, stop: float) -> GraphCase:
        """Simplify the case as long as it fails with the same types of error and of its cause."""
        for simpler in self.simpler():
            if time.monotonic() > stop:
                break
            other = simpler.error()
            # A call that lacks an option is refused, and so has a cause.
            if type(other) is type(error) and type(other.__cause__) is type(error.__cause__):
                return simpler.smallest(error, stop)
        return self

    def simpler(self) -> Iterator[GraphCase]:
        """Yield simpler cases: simple forms, fewer options, fewer edges, fewer vertices."""
        plain = Form()
        for changed in ({"form": plain, "other": plain}, {"form": plain}, {"other": plain}):
            if any(getattr(self, name) != plain for name in changed):
                yield replace(self, **changed)
        for option in self.options:
            fewer = {name: value for name, value in self.options.items() if name != option}
            yield replace(self, options=fewer)
        size = len(self.network.edges)
        while size:
            for at in range(0, len(self.network.edges), size):
                edges = self.network.edges[:at] + self.network.edges[at + size :]
                yield replace(self, network=replace(self.network, edges=edges))
            size //= 2
        if self.network.given:
            yield replace(self, network=replace(self.network, given=self.network.given[1:]))


def answers(rng: Random) -> Outcome:
    """Check the answer of a random call of a function."""
    name, network = rng.choice(list(oracles.ORACLES)), Network.random(rng)
    options = oracles.options_of(name, rng, network)
    check = partial(oracles.verify, name)
    form = replace(Form.random(rng), starts=True)
    return GraphCase(check, network, options, form, Form()).run()


def changes(rng: Random) -> Outcome:
    """Check a relation between the answers of several calls."""
    change, name = relations.draw(rng)
    network = Network.random(rng, usual=True)
    if not network.vertices:
        return Outcome("unfit")
    at = {"at": rng.choices(network.vertices, k=rng.choice([1, 2, 3]))}
    check = partial(relations.relate, change, name)
    return GraphCase(check, network, at, Form.random(rng), Form.random(rng)).run()
