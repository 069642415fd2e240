"""Threads of host kernels: how many of them small arrays are worth."""

from __future__ import annotations

import os
import threading
import time
import weakref

import pytest

from dask_graphflow.kernels import host_threads


@pytest.mark.parametrize(
    ("threads", "items", "wanted"),
    [(4, 10, 1), (4, 99, 1), (4, 250, 2), (4, 4000, 4), (1, 4000, 1), (4, 0, 1)],
)
def test_each_thread_gets_enough_items(monkeypatch, threads, items, wanted):
    monkeypatch.setattr(host_threads, "WORTH", 100)
    assert host_threads.worth(threads, items) == wanted


def test_parts_are_shared_and_returned_in_order():
    for _ in range(200):
        assert host_threads.share(lambda part: part * part, 20, 4) == [i * i for i in range(20)]


def test_an_error_of_a_helper_is_raised_and_the_pool_goes_on():
    caller = threading.get_ident()

    def work(part):
        if threading.get_ident() != caller:
            raise ValueError(part)
        time.sleep(0.01)  # until a helper has come

    with pytest.raises(ValueError):  # noqa: PT011
        host_threads.share(work, 1000, 2)
    assert host_threads.share(lambda part: part, 4, 2) == [0, 1, 2, 3]


def test_work_that_was_withdrawn_is_not_done_and_not_kept():
    held, done = threading.Event(), []
    busy = host_threads.call(lambda _: held.wait(60), (os.cpu_count() or 1) * 2)

    class Work:
        def __call__(self, part):
            done.append(part)

    work = Work()
    kept = weakref.ref(work)
    calls = host_threads.call(work, 3)
    assert host_threads.withdraw(calls) == []
    del work
    assert kept() is None
    held.set()
    for one in host_threads.withdraw(busy):
        one.wait()
    assert host_threads.share(lambda part: part, 4, 2) == [0, 1, 2, 3]
    assert not done
