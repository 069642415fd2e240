"""Links that are kept between runs: agreed on by member 0, and given up if anything is unusual."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from members import by_sockets, contexts, each

from dask_graphflow.comm import member_links
from dask_graphflow.comm.channel import PeerLost
from dask_graphflow.comm.connections import LONG

SHARDS = ("shard-0", "shard-1", "shard-2")

opened = []  # links and channels of runs that have not been left


@pytest.fixture(params=["sockets", "tls", "mixed", "memory"])
def kept(request, monkeypatch):
    """Return the links that three members keep after a first run."""
    monkeypatch.setattr(member_links, "PATIENCE", 20)
    every = [member_links.KeptLinks() for _ in SHARDS]
    tls = contexts() if request.param == "tls" else None
    here = {"mixed": (0, 2), "memory": range(3)}.get(request.param, ())
    for channel in by_sockets(3, tls, here=here):
        one = member_links.MemberLinks(SHARDS, 1, channel)
        opened.append((one, channel))
    leave(every)
    yield every
    while opened:
        _, channel = opened.pop()
        channel.abort(ConnectionError("the test is over"))
        channel.close()
    for one in every:
        one.close()


def leave(every, wanted=(True, True, True)):
    """Let the members leave the run that was taken last."""
    running = sorted(opened, key=lambda one: one[0].key)
    opened.clear()
    each(lambda rank: every[rank].keep(*running[rank], lambda: wanted[rank]), range(len(every)))


def take_links(every, runs, ready=(True, True, True)):
    """Let each member take the links for its run; return the channels."""
    found = each(
        lambda rank: every[rank].take(SHARDS, rank, runs[rank], lambda: ready[rank]),
        range(len(every)),
    )
    opened.extend(one for one in found if one is not None)
    return [None if one is None else one[1] for one in found]


def swapped(channels, size=1):
    """Return what each member gets if each sends all others its rank."""

    def member(channel):
        others = [rank for rank in range(channel.size) if rank != channel.rank]
        for other in others:
            channel.send(other, np.full(size, channel.rank, "uint8"))
        return [int(channel.receive(other)[-1]) for other in others]

    return each(member, channels)


@pytest.mark.parametrize("size", [1, LONG])
def test_runs_follow_each_other_on_the_same_connections(kept, size):
    for run in ("one", "two", "three"):
        channels = take_links(kept, 3 * [run])
        assert swapped(channels, size) == [[1, 2], [0, 2], [0, 1]]
        assert [channel.bytes_sent for channel in channels] == 3 * [2 * size]
        leave(kept)


def test_runs_without_messages_between_some_members(kept):
    for run in ("one", "two", "three"):
        take_links(kept, 3 * [run])
        leave(kept)
    assert swapped(take_links(kept, 3 * ["four"])) == [[1, 2], [0, 2], [0, 1]]


def test_members_of_different_runs_give_up(kept, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(member_links, "PATIENCE", 0.1)
    assert take_links(kept, ["one", "one", "two"]) == 3 * [None]
    assert "Member 0 of one connects anew" in caplog.text
    assert take_links(kept, 3 * ["three"]) == 3 * [None]  # there are no links any more


def test_a_member_that_follows_another_run_leaves_its_links_to_the_member_of_that_run(kept):
    runs = each(
        lambda one: kept[one[0]].take(SHARDS, *one, lambda: True),
        [(0, "one"), (1, "two"), (1, "one"), (2, "one")],
    )
    opened.extend(run for run in runs if run is not None)
    assert [run is None for run in runs] == [False, True, False, False]


def test_links_of_one_run_are_not_those_of_another_at_the_same_time(kept):
    assert None not in take_links(kept, 3 * ["one"])
    assert take_links(kept, 3 * ["two"]) == 3 * [None]


def test_a_message_that_was_not_received_ends_the_connection(kept):
    channels = take_links(kept, 3 * ["one"])
    channels[1].send(2, b"of run one")
    leave(kept)
    channels = take_links(kept, 3 * ["two"])
    channels[1].send(2, b"of run two")
    with pytest.raises(PeerLost, match="member 1"):
        channels[2].receive(1)


def test_a_member_that_has_left_sends_nothing(kept):
    channels = take_links(kept, 3 * ["one"])
    kept[1].keep(*opened.pop(1), lambda: True)
    with pytest.raises(PeerLost, match="member 1"):
        channels[2].receive(1)


@pytest.mark.parametrize("gone", [0, 1])
def test_links_are_closed_with_their_shard(kept, gone):
    kept[gone].drop(SHARDS[gone])
    assert take_links(kept, 3 * ["one"]) == 3 * [None]


@pytest.mark.parametrize("busy", [0, 1, 2])
def test_a_run_does_not_begin_on_links_if_one_member_is_not_ready(kept, busy):
    assert take_links(kept, 3 * ["one"], [rank != busy for rank in range(3)]) == 3 * [None]
    assert take_links(kept, 3 * ["two"]) == 3 * [None]  # there are no links any more


def test_links_are_not_kept_for_a_shard_that_has_gone(kept):
    take_links(kept, 3 * ["one"])
    leave(kept, wanted=(True, False, True))
    assert take_links(kept, 3 * ["two"]) == 3 * [None]
