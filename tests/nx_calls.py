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

CALLS = collections.Counter()
RESULTS = {}


def _counted(name, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        CALLS[name] += 1
        return result

    return call


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    from _graphflow_networkx import FUNCTIONS

    backend = nx.utils.backends._load_backend("graphflow")
    for name in FUNCTIONS:
        setattr(backend, name, _counted(name, getattr(backend, name)))


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        xfailed = hasattr(report, "wasxfail")
        RESULTS[report.nodeid] = "xfailed" if xfailed else report.outcome


def pytest_sessionfinish():
    report = {"calls": CALLS, "results": RESULTS}
    pathlib.Path(os.environ["GRAPHFLOW_NX_REPORT"]).write_text(json.dumps(report))
