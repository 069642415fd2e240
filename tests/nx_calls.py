"""A pytest plugin for NetworkX's own tests: counts the calls that reach the backend, and the outcomes.

``test_networkx.py`` runs pytest with it in another process. The report is a JSON file.
"""

from __future__ import annotations

import collections
import functools
import json
import os
import pathlib

import networkx as nx  # before pytest puts another folder first on sys.path
import pytest

#: How many calls of each test may reach the backend. The others are left to NetworkX, because some tests
#: make 100,000 calls with graphs of ten nodes.
LIMIT = int(os.environ.get("GRAPHFLOW_NX_LIMIT", 0))
ASKED = collections.Counter()
CALLS = collections.Counter()
REACHED = set()  # tests in which a function of the backend returned a result
RESULTS = {}


def _counted(name, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        CALLS[name] += 1
        REACHED.add(os.environ["PYTEST_CURRENT_TEST"].partition(" ")[0])
        return result

    return call


def _limited(can_run):
    @functools.wraps(can_run)
    def limited(name, args, kwargs):
        test = os.environ["PYTEST_CURRENT_TEST"]
        ASKED[test] += 1
        return ASKED[test] <= LIMIT and can_run(name, args, kwargs)

    return limited


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    from _graphflow_networkx import FUNCTIONS

    backend = nx.utils.backends._load_backend("graphflow")
    backend.can_run = _limited(backend.can_run)
    for name in FUNCTIONS:
        setattr(backend, name, _counted(name, getattr(backend, name)))


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        xfailed = hasattr(report, "wasxfail")
        RESULTS[report.nodeid] = "xfailed" if xfailed else report.outcome


def pytest_sessionfinish():
    modules = sorted({test.partition("::")[0] for test in ASKED})
    report = {"calls": CALLS, "reached": sorted(REACHED), "results": RESULTS, "modules": modules}
    pathlib.Path(os.environ["GRAPHFLOW_NX_REPORT"]).write_text(json.dumps(report))
