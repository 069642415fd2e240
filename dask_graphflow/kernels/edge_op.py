"""Edge programs: an algorithm over edges as a signal and a slot.

For an edge from `src` to `dst`, the *signal* is a message that is made of the columns at both ends; the
*slot* says how messages come together in a column at `dst`; *cond* says which `dst` take any (Gemini
[1]_, Ligra [2]_). The same text runs on the host and on a GPU, with the same bits.

.. [1] X. Zhu, W. Chen, W. Zheng, X. Ma, "Gemini: A Computation-Centric Distributed Graph Processing
   System", OSDI 2016.
.. [2] J. Shun, G. E. Blelloch, "Ligra: A Lightweight Graph Processing Framework for Shared Memory",
   PPoPP 2013.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphflow.exceptions import ExpressionError, OptionError, UnknownColumnError, WeightError
from dask_graphflow.showing.suggestions import nearest

from . import edge_cuda
from .edge_expr import (
    COLUMN_TYPES,
    FUNCTIONS,
    INTEGERS,
    NUMBER_TYPES,
    RESERVED,
    Node,
    Reader,
    Scope,
    check_column_name,
    is_plain,
    scalar,
)

if TYPE_CHECKING:
    from .edge_host import HostFunctions

__all__ = ["BoundOp", "EdgeOp", "without_values"]

SLOTS = ("min", "max", "add", "or")
INDEX_TYPES = ("int32", "int64")


@dataclass(frozen=True)
class Code:
    """What was written by hand in place of expressions; see :meth:`EdgeOp.from_code`."""

    signal: Callable[..., Any]
    cond: Callable[..., Any] | None
    cuda: str
    columns: tuple[str, ...]
    needs_weight: bool


@dataclass(frozen=True)
class EdgeOp:
    """An algorithm's step over edges, in expressions.

    It is checked as it is written, and once more by :meth:`bind`, when the columns' dtypes are known.
    Two that were written alike are equal, and share what was compiled. Programs that differ only in the
    values of their parameters share it too. It can be sent to workers.

    Parameters
    ----------
    name : str
        A name for messages and in the CUDA source, of ASCII letters, digits and ``_``.
    target : str
        The column that messages go to, at ``dst``.
    signal : str
        An edge's message: an expression over ``column[src]``, ``column[dst]``, ``weight``, and ``src`` and
        ``dst`` themselves, which are vertex numbers: 0 to n - 1 in the order of the ids, as the rows of
        the result, whatever type the ids have. It may name parameters.
    slot : {"min", "max", "add", "or"}
        How a message and the target's value become its new value. "or" takes integers, and sets the bits
        that are set in the message. For "min" and "max", NaN counts as in `numpy.minimum` and
        `numpy.maximum`: once a vertex has a NaN, it keeps it. For "add", messages that are floats have to
        be finite; see :meth:`.Graph.run`.
    cond : str, optional
        A question about ``dst``, over ``column[dst]``, ``dst`` and parameters. Where the answer is no, its
        edges are skipped. By default every vertex takes messages.
    first_hit : bool
        One message is enough for a vertex, and it may be that of its smallest neighbour: with "min" or
        "max", where all messages of a superstep are equal or that one is the one to keep.
    reverse : bool
        Whether messages go against the edges: ``src`` is then the target of an edge, and ``dst`` its
        source. False by default. It changes nothing in an undirected graph.
    params : mapping of str to number, optional
        Values that expressions read by name. They are passed when the program runs, so another value needs
        no compilation; see :meth:`with_params`. A Python bool, int or float is a bool, int64 or float64; a
        NumPy number of one of the columns' dtypes keeps its dtype.

    Raises
    ------
    ExpressionError
        An expression is not of the language, or `cond` asks about more than ``dst``. The message
        points at the place.
    OptionError
        A slot that does not exist, `first_hit` where every message counts, a name that is none, a parameter
        that is not a number, is not read, or is named like something else in the program.

    Notes
    -----
    The language and what each operation means are described in ``docs/howto/edge_programs.md``.

    Examples
    --------
    >>> from dask_graphflow import EdgeOp
    >>> hops = EdgeOp("hops", target="level", signal="level[src] + 1", slot="min")
    >>> hops.columns, hops.reads_src, hops.reads_dst, hops.needs_weight
    (('level',), ('level',), (), False)
    >>> EdgeOp("lower", target="cost", signal="1 + min(cost[src])", slot="min")
    Traceback (most recent call last):
        ...
    dask_graphflow.exceptions.ExpressionError: EdgeOp 'lower': signal: min takes two or more values, not 1
        1 + min(cost[src])
            ^^^^^^^^^^^^^^
    """

    name: str
    _: KW_ONLY
    target: str
    signal: str | Code
    slot: str
    cond: str | None = None
    first_hit: bool = False
    reverse: bool = False
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)

    param_dtypes: tuple[tuple[str, str], ...] = field(init=False)  # compared, since 1 equals 1.0
    columns: tuple[str, ...] = field(init=False, compare=False)
    reads_src: tuple[str, ...] = field(init=False, compare=False)
    reads_dst: tuple[str, ...] = field(init=False, compare=False)
    needs_weight: bool = field(init=False, compare=False)
    reads_numbers: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not is_plain(self.name):
            raise OptionError(
                f"name={self.name!r}; an EdgeOp's name is of ASCII letters, digits and _, and begins "
                "with no digit"
            )
        check_column_name(f"{self}: target", self.target)
        if self.slot not in SLOTS:
            allowed = ", ".join(map(repr, SLOTS))
            raise OptionError(
                f"{self}: slot={self.slot!r}; allowed are {allowed}{nearest(self.slot, SLOTS)}"
            )
        for name in ("first_hit", "reverse"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(f"{self}: {name}={getattr(self, name)!r}; give True or False")
        if self.first_hit and self.slot in ("add", "or"):
            raise OptionError(
                f"{self}: first_hit=True with slot={self.slot!r}, which takes every message; leave "
                "first_hit out, or take 'min' or 'max'"
            )
        self._read_params()
        names: set[str] = set()
        if isinstance(self.signal, Code):
            reads_src = reads_dst = self.signal.columns
            needs_weight = self.signal.needs_weight
            reads_numbers = False  # there src and dst only index columns
        else:
            self._keep("signal", _text(f"{self}: signal", self.signal))
            if self.cond is not None:
                self._keep("cond", _text(f"{self}: cond", self.cond))
            signal, cond = self._readers()
            signal.signal(self.target)
            cond.cond()
            read = {**signal.columns, **cond.columns}
            reads_src, reads_dst = (
                tuple(sorted(name for name, at in read if at == end)) for end in ("src", "dst")
            )
            names = signal.names | cond.names
            needs_weight = "weight" in names
            reads_numbers = not {"src", "dst"}.isdisjoint(names)
        self._keep("reads_src", reads_src)
        self._keep("reads_dst", reads_dst)
        self._keep("needs_weight", needs_weight)
        self._keep("reads_numbers", reads_numbers)
        self._keep("columns", tuple(sorted({self.target, *reads_src, *reads_dst})))
        for name in self.params:
            if name in self.columns:
                raise OptionError(
                    f"{self}: {name!r} is a parameter and a column; rename one of them"
                )
            if name not in names:
                raise OptionError(f"{self}: no expression reads parameter {name!r}; leave it out")

    def _read_params(self) -> None:
        if not isinstance(self.params, Mapping):
            raise OptionError(f"{self}: params={self.params!r}; give a dict of names and numbers")
        taken = (*RESERVED, *FUNCTIONS)
        for name in self.params:
            if not is_plain(name) or name in taken:
                raise OptionError(
                    f"{self}: a parameter cannot be named {name!r}; a name is of ASCII letters, digits and "
                    f"_, begins with no digit, and is not {', '.join(taken)}: rename it"
                )
        params = {name: self._scalar(name, self.params[name]) for name in sorted(self.params)}
        self._keep("params", params)
        self._keep("param_dtypes", tuple((name, v.dtype.name) for name, v in params.items()))

    def _scalar(self, name: str, value: Any, dtype: str | None = None) -> Any:
        number = scalar(value, dtype)
        if number is None:
            allowed = (
                f"a number that {dtype} can hold, or make a program with a parameter of another dtype"
                if dtype
                else f"True, False, an int that int64 can hold, a float, or a NumPy number of "
                f"{', '.join(COLUMN_TYPES)}, for example np.uint64(1)"
            )
            raise OptionError(f"{self}: params[{name!r}]={value!r}; give {allowed}")
        return number

    def __str__(self) -> str:
        return f"EdgeOp {self.name!r}"

    def __repr__(self) -> str:
        given: dict[str, Any] = {"target": self.target, "signal": self.signal, "slot": self.slot}
        given |= {"cond": self.cond} if self.cond is not None else {}
        given |= {"first_hit": True} if self.first_hit else {}
        given |= {"reverse": True} if self.reverse else {}
        given |= {"params": self.params} if self.params else {}
        options = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return f"EdgeOp({self.name!r}, {options})"

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _readers(
        self, index: str = "number", weight: str = "number", columns: dict[str, str] | None = None
    ) -> tuple[Reader, Reader]:
        """Return readers of the signal and of cond, for these dtypes or before they are known."""
        types = index, weight, columns, dict(self.param_dtypes)
        signal, cond = Scope(("src", "dst", "weight"), *types), Scope(("dst",), *types)
        return (
            Reader(f"{self}: signal", str(self.signal), signal),
            Reader(f"{self}: cond", self.cond or "True", cond),
        )

    def with_params(self, /, **params: Any) -> EdgeOp:
        """Return the program with other values of some parameters. Nothing is compiled again.

        Parameters
        ----------
        **params : number
            New values by the parameters' names. Each is converted to the parameter's dtype, and has to fit:
            integers exactly, floats may be rounded, and no float fits an integer.

        Returns
        -------
        EdgeOp
            A program that shares the compiled code of this one.

        Raises
        ------
        OptionError
            A parameter that the program does not have, or a value that does not fit.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> fade = gf.EdgeOp(
        ...     "fade", target="heat", signal="heat[src] * keep", slot="max", params={"keep": 0.5}
        ... )
        >>> fade.with_params(keep=0.25).params
        {'keep': np.float64(0.25)}
        """
        values = dict(self.params)
        for name, value in params.items():
            if name not in values:
                there = ", ".join(map(repr, values)) or "none"
                raise OptionError(
                    f"{self}: no parameter {name!r}; there are {there}{nearest(name, values)}"
                )
            values[name] = self._scalar(name, value, values[name].dtype.name)
        return _with_values(self, values)

    @classmethod
    def from_code(
        cls,
        name: str,
        *,
        target: str,
        slot: str,
        columns: Iterable[str],
        signal: Callable[..., Any],
        cuda: str,
        cond: Callable[..., Any] | None = None,
        first_hit: bool = False,
        needs_weight: bool = False,
    ) -> EdgeOp:
        """Make an edge program of functions written twice, for what expressions cannot say.

        That the twins mean the same is for their author to see to, and so is what they do about
        overflow and division by zero.

        Parameters
        ----------
        name, target, slot, first_hit
            As of :class:`EdgeOp`.
        columns : iterable of str
            The columns that the functions read; `target` is added.
        signal : callable
            ``signal(columns, src, dst, weight)``, a function for Numba to compile or one that it has.
            `columns` is a tuple of arrays in the order of :attr:`columns`. `src` and `dst` are positions
            in them, and nothing else: a column that begins as "vertex" holds vertex numbers.
        cuda : str
            The twins as members of a struct: ``__device__ Value signal(Index src, Index dst, Weight
            weight) const`` and, with `cond`, ``__device__ bool cond(Index dst) const``. A column is
            read as its name and ``_``: ``level_[src]``.
        cond : callable, optional
            ``cond(columns, dst)``, like `signal`.
        needs_weight : bool
            Whether `signal` reads the weight.

        Returns
        -------
        EdgeOp
            One like any other; what it computes is converted to the target's dtype.

        Raises
        ------
        ExpressionError
            A function that does not take these arguments, or has no twin.
        OptionError
            As of :class:`EdgeOp`.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> def ones(columns, src, dst, weight):
        ...     word, count = columns[1][src], 0
        ...     while word:
        ...         word &= word - 1
        ...         count += 1
        ...     return count
        >>> twin = (
        ...     "__device__ Value signal(Index src, Index dst, Weight weight) const "
        ...     "{ return __popcll(word_[src]); }"
        ... )
        >>> op = gf.EdgeOp.from_code(
        ...     "ones", target="most", slot="max", columns=["word"], signal=ones, cuda=twin
        ... )
        >>> op.columns
        ('most', 'word')
        """
        label = f"EdgeOp {name!r}"
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise ExpressionError(f"{label}: columns={columns!r}; give a list of column names")
        names = (target, *columns)
        for column in names:
            check_column_name(f"{label}: {'target' if column is target else 'column'}", column)
        _check_function(f"{label}: signal", signal, ("columns", "src", "dst", "weight"))
        if cond is not None:
            _check_function(f"{label}: cond", cond, ("columns", "dst"))
        _check_twins(label, cuda, cond is not None)
        if not isinstance(needs_weight, bool):
            raise OptionError(f"{label}: needs_weight={needs_weight!r}; give True or False")
        code = Code(signal, cond, cuda, tuple(sorted(set(names))), needs_weight)
        return cls(name, target=target, signal=code, slot=slot, first_hit=first_hit)

    def bind(
        self,
        dtypes: Mapping[str, Any],
        *,
        index_dtype: Any,
        weight_dtype: Any = None,
    ) -> BoundOp:
        """Give the program types, and check that they fit.

        Parameters
        ----------
        dtypes : mapping of str to dtype
            Of the vertex columns: bool, int32, int64, uint64, float32 or float64. There may be more of
            them than the program names.
        index_dtype : dtype
            Of vertex ids: int32 or int64.
        weight_dtype : dtype, optional
            Of the edges' weights, if they have any: int32, int64, uint64, float32 or float64.

        Returns
        -------
        BoundOp
            The program with its types: the functions for the host, the source for a GPU.

        Raises
        ------
        UnknownColumnError
            A column that `dtypes` does not have.
        WeightError
            The signal reads the weight, and the edges have none.
        ExpressionError
            A dtype that programs do not compute with, an expression that these dtypes make wrong, a
            message that the target cannot hold, or a slot that takes integers only.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> hops = gf.EdgeOp("hops", target="level", signal="level[src] + 1", slot="min")
        >>> bound = hops.bind({"level": "int32"}, index_dtype="int32")
        >>> bound.dtypes, bound.value_dtype
        ((('level', 'int32'),), 'int32')
        """
        found = []
        for name in self.columns:
            if name not in dtypes:
                there = ", ".join(map(repr, dtypes)) or "none"
                raise UnknownColumnError(
                    f"{self}: no vertex column {name!r}; there are {there}{nearest(name, dtypes)}"
                )
            found.append((name, self._dtype(f"column {name!r}", dtypes[name], COLUMN_TYPES)))
        value = dict(found)[self.target]
        if value not in NUMBER_TYPES:
            raise ExpressionError(
                f"{self}: target column {self.target!r} is {value}; messages go to a column of "
                f"{', '.join(NUMBER_TYPES)}: keep it as int32"
            )
        if self.slot == "add" and value.startswith("float"):
            raise ExpressionError(
                f"{self}: slot='add' into {self.target!r}, which is {value}; a sum in floating point "
                "depends on the order of the edges: run an expression with Graph.run, which adds floats in "
                "an order of no effect, or add whole numbers, for example int(share[src] * 2.0**40), in an "
                "int64 column"
            )
        if self.slot == "or" and value not in INTEGERS:
            raise ExpressionError(
                f"{self}: slot='or' into {self.target!r}, which is {value}; bits are those of integers: "
                "keep them in a uint64 column"
            )
        weight = None
        if self.needs_weight:
            if weight_dtype is None:
                raise WeightError(
                    f"{self}: the signal reads weight, and the edges have none; give weight= where the "
                    "graph is made, or write a number in its place"
                )
            weight = self._dtype("weight", weight_dtype, NUMBER_TYPES)
        index = self._dtype("a vertex id", index_dtype, INDEX_TYPES)
        bound = BoundOp(without_values(self), tuple(found), index, weight)
        if not isinstance(self.signal, Code):
            _ = bound.trees  # whose making is the rest of the checks
        return bound

    def _dtype(self, what: str, given: Any, allowed: tuple[str, ...]) -> str:
        try:
            name = str(given if given is None else np.dtype(given))  # to NumPy, None is float64
        except TypeError:
            name = str(given)
        if name not in allowed:
            raise ExpressionError(
                f"{self}: {what} is {name}; allowed are {', '.join(allowed)}: convert it with astype"
            )
        return name


@dataclass(frozen=True)
class BoundOp:
    """An edge program whose types are known; :meth:`EdgeOp.bind` makes it.

    Attributes
    ----------
    op : EdgeOp
        The program. Its parameters are 0: kernels are given their values after the columns.
    dtypes : tuple of (str, str)
        Its columns and their dtypes, sorted: the order of the struct's pointers too.
    index_dtype : str
        Of vertex ids.
    weight_dtype : str or None
        Of weights; None where the program does not read them, so that they need not be loaded.
    """

    op: EdgeOp
    dtypes: tuple[tuple[str, str], ...]
    index_dtype: str
    weight_dtype: str | None

    @property
    def target(self) -> int:
        """Index of the target among the columns."""
        return self.op.columns.index(self.op.target)

    @property
    def value_dtype(self) -> str:
        """The dtype of the target, and of messages."""
        return dict(self.dtypes)[self.op.target]

    @property
    def trees(self) -> tuple[Node, Node]:
        """The signal and cond as typed trees."""
        signal, cond = self.op._readers(
            self.index_dtype, self.weight_dtype or "number", dict(self.dtypes)
        )
        message = signal.signal(self.op.target)
        if message.dtype.startswith("float"):
            # -0.0 becomes 0.0: of two equals that differ, the one that came first would stay.
            message = Node("+", message.dtype, (message, Node("literal", message.dtype, value=0.0)))
        return message, cond.cond()

    @property
    def host(self) -> HostFunctions:
        """``signal``, ``cond`` and ``combine`` for functions that Numba compiles."""
        from . import edge_host

        return edge_host.functions(self)

    @property
    def cuda(self) -> str:
        """The program as a struct in CUDA C++, to go after ``cuda/edge_op.cuh``."""
        return edge_cuda.struct(self)

    @property
    def cuda_name(self) -> str:
        """The name of that struct."""
        return f"EdgeOp_{self.op.name}"


def without_values(op: EdgeOp) -> EdgeOp:
    """Return a program with parameters of 0, which is the same for all that share compiled code."""
    zeros = {name: type(value)() for name, value in op.params.items()}
    return _with_values(op, zeros) if zeros else op


def _with_values(op: EdgeOp, params: Mapping[str, Any]) -> EdgeOp:
    # Without the checks, which read the expressions again.
    op = copy.copy(op)
    op._keep("params", params)
    return op


def _text(label: str, given: object) -> str:
    if not isinstance(given, str):
        raise ExpressionError(
            f"{label}={given!r}; an expression is a str, for example 'level[src] + 1', and functions "
            "go to EdgeOp.from_code"
        )
    return given.strip()


def _check_function(label: str, function: object, takes: tuple[str, ...]) -> None:
    count = len(inspect.signature(function).parameters) if callable(function) else None
    if count != len(takes):
        given = repr(function) if count is None else f"a function of {count} arguments"
        raise ExpressionError(f"{label} is {given}; give a function of ({', '.join(takes)})")


def _check_twins(label: str, cuda: object, with_cond: bool) -> None:
    for name, wanted in ("signal", True), ("cond", with_cond):
        found = isinstance(cuda, str) and re.search(rf"\b{name}\s*\(\s*Index\b", cuda) is not None
        if found != wanted:
            has = "has" if found else "lacks"
            raise ExpressionError(
                f"{label}: the CUDA source {has} a function {name}(Index ...), and on the host there is "
                f"{'one' if wanted else 'none'}; write both or neither"
            )
