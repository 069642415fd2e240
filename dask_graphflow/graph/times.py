"""Times of edges: which columns hold them, and how their values become integers without a loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dask_graphflow.exceptions import EdgeListError, OptionError
from dask_graphflow.showing.tables import counted
from dask_graphflow.showing.values import shown

from . import dtypes, frames
from .dtypes import Inexact
from .edgelist import check_columns, column_of

DATETIMES = ("datetime", "datetime with a time zone")
LIMITS = np.iinfo(np.int64)
FRAME = "the timetable"
COLUMNS = ("departure", "arrival", "duration")  # options that name columns with times


class Times(NamedTuple):
    """The columns with the times of edges, and the dtype in which they are compared."""

    departure: Any  # name of the column
    arrival: Any  # name of the column; None if there is none
    duration: Any  # name of the column; None if there is none
    dtype: Any  # int64 for integers, and otherwise a dtype of datetimes

    @classmethod
    def of(cls, meta: Any, names: Mapping[str, Any]) -> Times:
        """Return the times in a frame, of which an empty one is given.

        Raises
        ------
        OptionError
            There are both arrivals and durations.
        UnknownColumnError, EdgeListError
            There is no such column, or it does not hold times.
        """
        departure, arrival, duration = (names[name] for name in COLUMNS)
        if arrival is not None and duration is not None:
            raise OptionError(
                f"arrival={shown(arrival)} and duration={shown(duration)} are both given; give the one "
                "that the edges have"
            )
        for role, name in names.items():
            if name is not None:
                check_columns(meta, [name], role)
        dtype = _known(meta, departure, "departure")
        if arrival is not None:
            other = _known(meta, arrival, "arrival")
            if dtypes.kind(dtype) != dtypes.kind(other):
                raise _differ(departure, dtype, "arrival", arrival, other, "the same type")
        elif duration is not None:
            other = dtypes.values_dtype(meta[duration].dtype)
            wanted = "integer" if dtypes.is_integer(dtype) else "timedelta"
            if dtypes.kind(other) != wanted:
                kind = {"integer": "integers", "timedelta": "timedeltas"}[wanted]
                raise _differ(
                    departure, dtype, "duration", duration, other, f"durations that are {kind}"
                )
        else:
            other = dtype
        whole = dtypes.is_integer(dtype)
        used = np.dtype("int64") if whole else dtypes.in_finer_unit(dtype, other)
        return cls(departure, arrival, duration, used)

    def read(self, parts: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the departures and the arrivals in the partitions of a frame, as int64.

        Raises
        ------
        EdgeListError
            A time is missing, does not fit, or an edge arrives before it departs.
        """
        departures = self._column(parts, self.departure, self.dtype)
        if self.arrival is not None:
            arrivals = self._column(parts, self.arrival, self.dtype)
            early = np.flatnonzero(arrivals < departures)
            if len(early):
                raise EdgeListError(
                    f"{counted(len(early), 'edge')} of {len(arrivals):,} "
                    f"{'arrives' if len(early) == 1 else 'arrive'} before the departure, such as row "
                    f"{early[0]:,} of {FRAME}. An edge arrives when it departs, or later. Correct such "
                    "rows or leave them out"
                )
        elif self.duration is not None:
            arrivals = self._add_durations(parts, departures)
        else:
            arrivals = departures
        for side in (departures, arrivals):
            if len(side) and not LIMITS.min < side.min() <= side.max() < LIMITS.max:
                raise EdgeListError(
                    f"a time in {FRAME} is {LIMITS.min} or {LIMITS.max}; times lie between these two "
                    "numbers. Correct such rows or leave them out"
                )
        return departures, arrivals

    def _add_durations(self, parts: Sequence[Any], departures: np.ndarray) -> np.ndarray:
        dtype: Any = self.dtype
        if dtype != "int64":
            dtype = np.dtype(f"timedelta64[{dtypes.unit(dtype)}]")
        durations = self._column(parts, self.duration, dtype)
        if len(durations) and durations.min() < 0:
            negative = counted(int((durations < 0).sum()), "negative value")
            raise EdgeListError(
                f"duration column {self.duration!r} holds {negative}; a duration is 0 or more. Correct "
                "such rows or leave them out"
            )
        arrivals: np.ndarray = departures + durations
        if (arrivals < departures).any():
            raise EdgeListError(
                f"a departure in {self.departure!r} and its duration in {self.duration!r} add up to more "
                f"than {LIMITS.max}; give times in a coarser unit"
            )
        return arrivals

    def _column(self, parts: Sequence[Any], name: Any, dtype: Any) -> np.ndarray:
        columns: list[np.ndarray] = [
            _integers(column_of(part, name, f"partition {i} of {FRAME}"), dtype, i)
            for i, part in enumerate(parts)
        ]
        return np.concatenate(columns)

    def instant(self, value: Any) -> int:
        """Return the value of the option `start` as an integer in the unit of the times.

        Raises
        ------
        OptionError
            It is of another type, or does not fit.
        """
        if dtypes.is_integer(self.dtype):
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not whole or not LIMITS.min < value < LIMITS.max:
                raise OptionError(
                    f"start={shown(value)}; the times of the edges are integers, so give a whole number of "
                    "at most 64 bits"
                )
            return int(value)
        unit: Any
        unit, zone = dtypes.unit(self.dtype), "zone" in dtypes.kind(self.dtype)
        wrong = f"start={shown(value)}; the times of the edges are timestamps of dtype {self.dtype}"
        try:
            time = pd.NaT if isinstance(value, int | float | np.number) else pd.Timestamp(value)
        except (TypeError, ValueError, OverflowError):
            time = pd.NaT
        if pd.isna(time):
            raise OptionError(f"{wrong}, so give one, such as '2026-03-01 08:00{'Z' * zone}'")
        if zone != (time.tzinfo is not None):
            raise OptionError(f"{wrong}, so give one {'with a' if zone else 'without a'} time zone")
        try:
            return int(time.as_unit(unit, round_ok=False).to_numpy().astype(np.int64))
        except (ValueError, OverflowError) as error:
            raise OptionError(f"{wrong}, which cannot hold it; round it to that unit") from error

    def series(self, times: np.ndarray) -> pd.Series:
        """Return integers as a series of times."""
        if dtypes.is_integer(self.dtype):
            return pd.Series(times)
        made = pd.Series(times.view(f"datetime64[{dtypes.unit(self.dtype)}]"))
        if "zone" in dtypes.kind(self.dtype):
            made = made.dt.tz_localize("UTC")
        return made if made.dtype == self.dtype else made.astype(self.dtype)


def _known(meta: Any, name: Any, role: str) -> Any:
    """Return the dtype of a column of times; raise if it does not hold times."""
    dtype = dtypes.values_dtype(meta[name].dtype)
    if dtypes.is_integer(dtype) or dtypes.kind(dtype) in DATETIMES:
        return dtype
    raise EdgeListError(
        f"{role}={shown(name)} has dtype {dtype}; times are integers or timestamps. Convert the column "
        "before the call, for example with pd.to_datetime, or with astype('int64') if it holds whole "
        "numbers"
    )


def _differ(
    departure: Any, dtype: Any, role: str, name: Any, other: Any, wanted: str
) -> EdgeListError:
    return EdgeListError(
        f"departure={shown(departure)} has dtype {dtype} and {role}={shown(name)} has dtype {other}; "
        f"departures of this type need {wanted}. Convert one of the columns before the call"
    )


def _integers(series: Any, dtype: Any, partition: int) -> np.ndarray:
    """Return a column of times or durations as int64, in the unit of a dtype."""
    series = frames.to_pandas(dtypes.values_of(series))
    if nulls := int(series.isna().sum()):
        raise EdgeListError(
            f"column {series.name!r} has {counted(nulls, 'null')} in a partition of "
            f"{counted(len(series), 'edge')}; an edge needs a time. Fill them, or leave such edges out"
        )
    try:
        series = dtypes.exactly(series, dtype)
    except Inexact as error:
        value = error.value.item() if isinstance(error.value, np.generic) else error.value
        holds = "" if value is None else f" and holds {shown(value)}"
        raise EdgeListError(
            f"column {series.name!r} has dtype {series.dtype} in partition {partition} of {FRAME}{holds}, "
            f"but it is read as {dtype}, which cannot hold that. Give times that fit, with one unit in all "
            "columns and one dtype in all partitions"
        ) from error
    if dtypes.is_integer(dtype):
        whole: np.ndarray = series.to_numpy("int64")
        return whole
    if "zone" in dtypes.kind(dtype) and isinstance(series.dtype, pd.DatetimeTZDtype):
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    kind = "timedelta64" if dtypes.kind(dtype) == "timedelta" else "datetime64"
    values: np.ndarray = series.to_numpy(f"{kind}[{dtypes.unit(dtype)}]").view(np.int64)
    return values
