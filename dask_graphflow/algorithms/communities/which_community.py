"""The option of communities: a frame, lazy or not, with the id and the community of each vertex."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

from dask_graphflow.declarations.option import Check
from dask_graphflow.declarations.previous import KEY, PREVIOUS, Earlier, ResultToken
from dask_graphflow.declarations.spec import GraphSpec
from dask_graphflow.exceptions import EdgeListError, OptionError
from dask_graphflow.graph import frames, renumber, vertex_ids
from dask_graphflow.graph.align_ids import align
from dask_graphflow.graph.change import Change
from dask_graphflow.operators.access import gather, move_to
from dask_graphflow.operators.whole_weights import own_sums
from dask_graphflow.showing.tables import counted


class WhichCommunity(NamedTuple):
    """The community of each vertex."""

    # Array of int64, shape (V_p,). Number of the community; -1 for positions that are not vertices.
    rows: Any
    # DataFrame. What the communities are called, in ascending order; the same for all members.
    names: Any


class EarlierCommunity(NamedTuple):
    """The community that each vertex had."""

    which: WhichCommunity
    # What an update has changed since then, if this is the result of the same call on the graph before it.
    change: Change | None


@dataclass(frozen=True)
class Communities(Check):
    """A frame with the id and the community of each vertex; the algorithm gets a `WhichCommunity`."""

    names_vertices: ClassVar[bool] = True
    reads_frame: ClassVar[bool] = True
    kind: ClassVar[str] = "table"

    def check(self, name: str, value: Any, spec: GraphSpec) -> Any:
        """Return the frame."""
        frame, width = value, spec.id_width
        if len(frame.columns) not in {width + 1, 2 * width}:
            raise OptionError(
                f"{name} has {counted(len(frame.columns), 'column')}; give the id in "
                f"{counted(width, 'column')}, then the community in one more"
                f"{f' or in {width}' if width > 1 else ''}, and no others"
            )
        return frame

    def types(self, frame: Any, spec: GraphSpec) -> tuple[Any, ...]:
        """Return the dtypes of the communities in a result."""
        empty = frames.empty_like(frame._meta).iloc[:, spec.id_width :]
        return tuple(vertex_ids.brought(empty, spec.ids).dtypes)

    def resolve(self, g: Any, sent: Any) -> WhichCommunity:
        """Return the community of each of this member's vertices."""
        return _resolve(g, sent, "communities")


@dataclass(frozen=True)
class EarlierCommunities(Communities, Earlier):
    """The same of any earlier graph, usually of the one from which an update made this one.

    Ids that are not in this graph are left out, and a vertex without a row has no community.
    """

    def expect(
        self,
        frame: Any,
        token: ResultToken,
        columns: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Callable[..., Any]:
        """Return what resolves the frame; the algorithm learns whether it is the result of the token."""
        return partial(_resolve_earlier, token=token)


def _resolve_earlier(g: Any, sent: Any, *, token: ResultToken) -> EarlierCommunity:
    change, attrs = g.member.shard.change, token.attrs(sum(map(len, sent)))[KEY]
    expected = all(getattr(part, "attrs", {}).get(KEY) == attrs for part in sent if len(part))
    if not expected or (change is not None and change.base != token.version):
        change = None
    return EarlierCommunity(_resolve(g, sent, PREVIOUS), change)


def _resolve(g: Any, sent: Any, option: str) -> WhichCommunity:
    frame, like = frames.stack(sent), g.empty_ids
    width, rows = len(like.columns), g.column(-1, "int64")
    names = vertex_ids.brought(frame.iloc[:, width:], like)
    if any(names[column].isna().any() for column in names.columns):
        raise EdgeListError("a community is null; give one for each vertex, or leave its row out")
    codes, names = renumber.factorize(names)
    names, order = renumber.sort(names)
    times = g.column(0, "int64")
    if len(frame):
        ids = vertex_ids.named(frame.iloc[:, :width], like, option)
        chosen, at, known, once = align(g.member.shard, g.member.exchange, ids)
        if option != PREVIOUS and not known:
            g.find(ids)  # raises, and says which id is not in the graph
        times[at] = 1
        if not once:
            times = own_sums(at, None, g.owned)
        rows[at] = move_to(rows, order[codes])[chosen]
    _check_rows(g, times > 1, f"several rows in {option}")
    if option != PREVIOUS:
        _check_rows(g, times == 0, f"no row in {option}")
    return WhichCommunity(rows, names)


def _check_rows(g: Any, wrong: Any, problem: str) -> None:
    """Raise in all members if vertices do not have one row in a frame."""
    wrong &= g.exists
    count = g.count_true(wrong)
    if count:
        few = gather(g, g.numbers[wrong][:3])[:3]
        raise EdgeListError(
            f"{counted(count, 'vertex', 'vertices')} of {g.count:,} "
            f"{'has' if count == 1 else 'have'} {problem}, such as {g.show(few)}; give a frame with "
            "one row per vertex, such as the result of louvain on the same graph"
        )
