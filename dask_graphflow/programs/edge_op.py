"""Edge programs: one step of an algorithm over edges, written as a signal and a slot.

For an edge from `src` to `dst`, the *signal* is a message that is computed from the columns at both ends.
The *slot* says how messages are combined into a column at `dst`, and *cond* says which `dst` accept
messages (Gemini [1]_, Ligra [2]_). The same text runs on the host and on a GPU, with bit-identical results.

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
from functools import cache
from typing import Any, Literal, get_args

import numpy as np

from dask_graphflow.exceptions import ExpressionError, OptionError, UnknownColumnError, WeightError
from dask_graphflow.kernels.program import DeviceProgram, HostFunctions, HostProgram
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown

from . import cuda
from .after import After
from .expressions import (
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
from .typed import Code, TypedProgram

Slot = Literal["min", "max", "add", "or"]
SLOTS = get_args(Slot)
INDEX_TYPES = ("int32", "int64")


@dataclass(frozen=True)
class EdgeOp:
    """One step of an algorithm over edges, written as expressions.

    A program is checked when it is created, and again by :meth:`bind`, when the dtypes of the columns are
    known. Programs with the same definition are equal and share their compiled code. Programs that differ
    only in the values of their parameters share it too. A program can be sent to workers.

    Parameters
    ----------
    name : str
        Name of the program in error messages and in the CUDA source. It consists of ASCII letters, digits
        and ``_``, and does not begin with a digit.
    target : str
        The column at ``dst`` that receives the messages.
    signal : str
        The message of an edge: an expression over ``column[src]``, ``column[dst]``, ``weight``, ``src``,
        ``dst`` and parameters. ``src`` and ``dst`` by themselves are vertex numbers: 0 to n - 1 in the
        order of the ids, like the rows of the result, whatever type the ids have.
    slot : {"min", "max", "add", "or"}
        How a message and the current value of the target are combined into the new value. "or" takes
        integers, and sets the bits that are set in the message. For "min" and "max", NaN is treated as in
        `numpy.minimum` and `numpy.maximum`: once the value of a vertex is NaN, it stays NaN. For "add",
        floating-point messages have to be finite; see :meth:`.Graph.run`.
    cond : str, optional
        A condition on ``dst``: an expression over ``column[dst]``, ``dst`` and parameters. If it is false
        for a vertex, edges to this vertex are skipped. By default every vertex accepts messages.
    first_hit : bool
        Whether a single message per vertex is enough, and may be the message from its smallest neighbor.
        Set it with "min" or "max" if all messages of a superstep are equal, or if the slot would keep the
        message of the smallest neighbor. False by default.
    reverse : bool
        Whether messages are sent against the direction of the edges: ``src`` is then the target of an edge,
        and ``dst`` its source. False by default. It has no effect on an undirected graph.
    params : mapping of str to number, optional
        Values that expressions read by name. They are passed when the program runs, so a new value needs
        no compilation; see :meth:`with_params`. A Python bool, int or float becomes a bool, int64 or
        float64. A NumPy number keeps its dtype, which has to be one that columns can have.

    Raises
    ------
    ExpressionError
        An expression is not valid in the language of edge programs, or `cond` reads something other than
        ``dst``. The message points at the position.
    OptionError
        A slot does not exist, `first_hit` is used with a slot that needs every message, or a name is not
        valid. A parameter is not a number, is not read, or has the name of something else in the program.

    Notes
    -----
    ``docs/howto/edge_programs.md`` describes the language and the meaning of each operation.

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
    slot: Slot
    cond: str | None = None
    first_hit: bool = False
    reverse: bool = False
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)

    param_dtypes: tuple[tuple[str, str], ...] = field(init=False)  # compared, since 1 == 1.0
    columns: tuple[str, ...] = field(init=False, compare=False)
    reads_src: tuple[str, ...] = field(init=False, compare=False)
    reads_dst: tuple[str, ...] = field(init=False, compare=False)
    needs_weight: bool = field(init=False, compare=False)
    reads_numbers: bool = field(init=False, compare=False)
    after: After | None = field(init=False, default=None)  # see with_after()

    def __post_init__(self) -> None:
        if not is_plain(self.name):
            raise OptionError(
                f"name={shown(self.name)}; an EdgeOp's name is of ASCII letters, digits and _, and begins "
                "with no digit"
            )
        check_column_name(f"{self}: target", self.target)
        if not isinstance(self.slot, str) or self.slot not in SLOTS:
            allowed = ", ".join(map(repr, SLOTS))
            raise OptionError(
                f"{self}: slot={shown(self.slot)}; allowed are {allowed}{nearest(self.slot, SLOTS)}"
            )
        for name in ("first_hit", "reverse"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(
                    f"{self}: {name}={shown(getattr(self, name))}; give True or False"
                )
        if self.first_hit and self.slot in ("add", "or"):
            raise OptionError(
                f"{self}: first_hit=True with slot={shown(self.slot)}, which takes every message; leave "
                "first_hit out, or take 'min' or 'max'"
            )
        self._read_params()
        names: set[str] = set()
        if isinstance(self.signal, Code):
            reads_src = reads_dst = self.signal.columns
            needs_weight = self.signal.needs_weight
            reads_numbers = False  # the functions use src and dst only as indices of columns
        else:
            self._keep(signal=_text(f"{self}: signal", self.signal))
            if self.cond is not None:
                self._keep(cond=_text(f"{self}: cond", self.cond))
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
        self._keep(reads_src=reads_src, reads_dst=reads_dst)
        self._keep(needs_weight=needs_weight, reads_numbers=reads_numbers)
        self._keep(columns=tuple(sorted({self.target, *reads_src, *reads_dst})))
        for name in self.params:
            if name in self.columns:
                raise OptionError(
                    f"{self}: {name!r} is a parameter and a column; rename one of them"
                )
            if name not in names:
                raise OptionError(f"{self}: no expression reads parameter {name!r}; leave it out")

    def _read_params(self) -> None:
        if not isinstance(self.params, Mapping):
            raise OptionError(
                f"{self}: params={shown(self.params)}; give a dict of names and numbers"
            )
        taken = (*RESERVED, *FUNCTIONS)
        for name in self.params:
            if not is_plain(name) or name in taken:
                raise OptionError(
                    f"{self}: a parameter cannot be named {name!r}; a name is of ASCII letters, digits and "
                    f"_, begins with no digit, and is not {', '.join(taken)}: rename it"
                )
        params = {name: self._scalar(name, self.params[name]) for name in sorted(self.params)}
        dtypes = tuple((name, v.dtype.name) for name, v in params.items())
        self._keep(params=params, param_dtypes=dtypes)

    def _scalar(self, name: str, value: Any, dtype: str | None = None) -> Any:
        number = scalar(value, dtype)
        if number is None:
            allowed = (
                f"a number that {dtype} can hold, or make a program with a parameter of another dtype"
                if dtype
                else f"True, False, an int that int64 can hold, a float, or a NumPy number of "
                f"{', '.join(COLUMN_TYPES)}, for example np.uint64(1)"
            )
            raise OptionError(f"{self}: params[{name!r}]={shown(value)}; give {allowed}")
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

    def _keep(self, **values: Any) -> None:
        vars(self).update(values)  # a frozen dataclass refuses assignments

    def _readers(
        self, index: str = "number", weight: str = "number", columns: dict[str, str] | None = None
    ) -> tuple[Reader, Reader]:
        """Return readers of the signal and of cond. The defaults stand for dtypes that are not known."""
        types = columns, dict(self.param_dtypes)
        signal = Scope({"src": index, "dst": index, "weight": weight}, *types)
        return (
            Reader(f"{self}: signal", str(self.signal), signal),
            Reader(f"{self}: cond", self.cond or "True", Scope({"dst": index}, *types)),
        )

    def with_params(self, /, **params: Any) -> EdgeOp:
        """Return the program with new values for some parameters. Nothing is compiled again.

        Parameters
        ----------
        **params : number
            New values by parameter name. Each value is converted to the dtype of its parameter and has to
            fit it: integers have to be exact, floats may be rounded, and a float does not fit an integer
            dtype.

        Returns
        -------
        EdgeOp
            A program that shares the compiled code of this one.

        Raises
        ------
        OptionError
            The program does not have such a parameter, or a value does not fit.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> fade = gf.EdgeOp(
        ...     "fade", target="heat", signal="heat[src] * keep", slot="max", params={"keep": 0.5}
        ... )
        >>> print(fade.with_params(keep=0.25).params["keep"])
        0.25
        """
        values = dict(self.params)
        for name, value in params.items():
            if name not in values:
                there = ", ".join(map(repr, values)) or "none"
                raise OptionError(
                    f"{self}: no parameter {name!r}; there are {there}{nearest(name, values)}"
                )
            values[name] = self._scalar(name, value, values[name].dtype.name)
        return _with(self, params=values)

    @classmethod
    def from_code(
        cls,
        name: str,
        *,
        target: str,
        slot: Slot,
        columns: Iterable[str],
        signal: Callable[..., Any],
        cuda: str,
        cond: Callable[..., Any] | None = None,
        first_hit: bool = False,
        needs_weight: bool = False,
    ) -> EdgeOp:
        """Make an edge program from handwritten functions, for algorithms that expressions cannot state.

        Each function is written twice: in Python for Numba, and in CUDA C++. The author has to make sure
        that both versions mean the same, and decides what they do on overflow and division by zero.

        Parameters
        ----------
        name, target, slot, first_hit
            See :class:`EdgeOp`.
        columns : iterable of str
            The columns that the functions read. `target` is added automatically.
        signal : callable
            ``signal(columns, src, dst, weight)``: a Python function, or one that Numba has compiled.
            `columns` is a tuple of arrays in the order of :attr:`columns`. Use `src` and `dst` only as
            indices into these arrays. A column that begins as "vertex" contains vertex numbers.
        cuda : str
            The same functions in CUDA C++, as members of a struct: ``__device__ Value signal(Index src,
            Index dst, Weight weight) const`` and, with `cond`, ``__device__ bool cond(Index dst) const``.
            A column is read by its name followed by ``_``: ``level_[src]``.
        cond : callable, optional
            ``cond(columns, dst)``, a function like `signal`.
        needs_weight : bool
            Whether `signal` reads the weight. False by default.

        Returns
        -------
        EdgeOp
            The program. Its messages are converted to the target's dtype.

        Raises
        ------
        ExpressionError
            A function does not take these arguments, or is written in only one of the two languages.
        OptionError
            See :class:`EdgeOp`.

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
            raise ExpressionError(f"{label}: columns={shown(columns)}; give a list of column names")
        names = (target, *columns)
        for column in names:
            check_column_name(f"{label}: {'target' if column is target else 'column'}", column)
        _check_function(f"{label}: signal", signal, ("columns", "src", "dst", "weight"))
        if cond is not None:
            _check_function(f"{label}: cond", cond, ("columns", "dst"))
        _check_twins(label, cuda, cond is not None)
        if not isinstance(needs_weight, bool):
            raise OptionError(f"{label}: needs_weight={shown(needs_weight)}; give True or False")
        code = Code(signal, cond, cuda, tuple(sorted(set(names))), needs_weight)
        return cls(name, target=target, signal=code, slot=slot, first_hit=first_hit)

    def bind(
        self,
        dtypes: Mapping[str, Any],
        *,
        index_dtype: Any,
        weight_dtype: Any = None,
    ) -> BoundOp:
        """Bind the program to dtypes, and check that they fit.

        Parameters
        ----------
        dtypes : mapping of str to dtype
            The dtype of each vertex column: bool, int32, int64, uint64, float32 or float64. It may contain
            more columns than the program reads.
        index_dtype : dtype
            The dtype of vertex ids: int32 or int64.
        weight_dtype : dtype, optional
            The dtype of the edge weights, if there are any: int32, int64, uint64, float32 or float64.

        Returns
        -------
        BoundOp
            The program with its dtypes: functions for the host, and source code for a GPU.

        Raises
        ------
        UnknownColumnError
            `dtypes` does not contain a column of the program.
        WeightError
            The signal reads the weight, but the edges have none.
        ExpressionError
            A dtype is not supported, an expression is not valid for these dtypes, the target cannot hold
            the messages, or the slot does not take values of the target's dtype.

        Examples
        --------
        >>> import dask_graphflow as gf
        >>> hops = gf.EdgeOp("hops", target="level", signal="level[src] + 1", slot="min")
        >>> bound = hops.bind({"level": "int32"}, index_dtype="int32")
        >>> bound.dtypes, bound.value_dtype
        ((('level', 'int32'),), 'int32')
        """
        column_dtypes = []
        for name in self.columns:
            if name not in dtypes:
                there = ", ".join(map(repr, dtypes)) or "none"
                raise UnknownColumnError(
                    f"{self}: no vertex column {name!r}; there are {there}{nearest(name, dtypes)}"
                )
            column_dtypes.append(
                (name, self._dtype(f"column {name!r}", dtypes[name], COLUMN_TYPES))
            )
        value = dict(column_dtypes)[self.target]
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
        bound = BoundOp(without_values(self), tuple(column_dtypes), index, weight)
        _ = bound.typed  # making the trees does the remaining checks
        return bound

    def _dtype(self, label: str, given: Any, allowed: tuple[str, ...]) -> str:
        try:
            name = str(given if given is None else np.dtype(given))  # NumPy reads None as float64
        except TypeError:
            name = str(given)
        if name not in allowed:
            raise ExpressionError(
                f"{self}: {label} is {name}; allowed are {', '.join(allowed)}: convert it with astype"
            )
        return name


@dataclass(frozen=True)
class BoundOp:
    """An edge program whose dtypes are known; :meth:`EdgeOp.bind` returns it.

    Attributes
    ----------
    op : EdgeOp
        The program with all parameters set to 0. Kernels receive the actual values after the columns.
    dtypes : tuple of (str, str)
        The columns and their dtypes, sorted by name. The pointers in the CUDA struct have the same order.
    index_dtype : str
        The dtype of vertex ids.
    weight_dtype : str or None
        The dtype of weights; None if the program does not read them, so that they need not be loaded.
    """

    op: EdgeOp
    dtypes: tuple[tuple[str, str], ...]
    index_dtype: str
    weight_dtype: str | None

    @property
    def value_dtype(self) -> str:
        """The dtype of the target, and of messages."""
        return dict(self.dtypes)[self.op.target]

    @property
    def typed(self) -> TypedProgram:
        """The program with its dtypes, as the compilers read it."""
        op, columns = self.op, dict(self.dtypes)
        return TypedProgram(
            op.name,
            op.target,
            op.slot,
            op.first_hit,
            columns=columns,
            params=dict(op.param_dtypes),
            index_dtype=self.index_dtype,
            weight_dtype=self.weight_dtype,
            code=op.signal if isinstance(op.signal, Code) else self.trees,
            after=None if op.after is None else op.after.read(self.index_dtype, columns),
        )

    @property
    def trees(self) -> tuple[Node, Node]:
        """The signal and cond as typed trees."""
        types = self.index_dtype, self.weight_dtype or "number", dict(self.dtypes)
        signal, cond = self.op._readers(*types)
        message = signal.signal(self.op.target)
        if message.dtype.startswith("float"):
            # Adding 0.0 turns -0.0 into 0.0. The two compare equal, so the one that came first would stay.
            message = Node("+", message.dtype, (message, Node("literal", message.dtype, value=0.0)))
        return message, cond.cond()

    @property
    @cache  # noqa: B019
    def host_program(self) -> HostProgram:
        """The program as ``kernels.advance.host`` takes it. Equal programs share their compiled code."""
        from . import host  # on first use, because it imports Numba

        return host.compiled(self.typed)

    @property
    @cache  # noqa: B019
    def device_program(self) -> DeviceProgram:
        """The program as ``kernels.advance.device`` takes it."""
        return cuda.compiled(self.typed)

    @property
    @cache  # noqa: B019
    def host(self) -> HostFunctions:
        """The functions ``signal``, ``cond`` and ``combine``, for Python and for code compiled by Numba."""
        from . import host

        return host.functions(self.typed)

    @property
    def cuda(self) -> str:
        """The program as a CUDA C++ struct, which has to come after ``cuda/edge_op.cuh``."""
        return cuda.struct(self.typed)

    @property
    def cuda_name(self) -> str:
        """The name of the CUDA C++ struct."""
        return cuda.struct_name(self.typed)


def without_values(op: EdgeOp) -> EdgeOp:
    """Return a program with all parameters set to 0: equal for all programs that share compiled code."""
    zeros = {name: type(value)() for name, value in op.params.items()}
    return _with(op, params=zeros) if zeros else op


def with_after(op: EdgeOp, after: After) -> EdgeOp:
    """Return a program that also does something with each vertex that a superstep changes."""
    columns = tuple(sorted({*op.columns, *after.columns}))
    return _with(op, after=after, columns=columns)


def _with(op: EdgeOp, **values: Any) -> EdgeOp:
    # This skips the checks, which would parse the expressions again.
    op = copy.copy(op)
    vars(op).update(values)
    return op


def _text(label: str, given: object) -> str:
    if not isinstance(given, str):
        raise ExpressionError(
            f"{label}={shown(given)}; an expression is a str, for example 'level[src] + 1', and functions "
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
        has_function = (
            isinstance(cuda, str) and re.search(rf"\b{name}\s*\(\s*Index\b", cuda) is not None
        )
        if has_function != wanted:
            verb = "has" if has_function else "lacks"
            raise ExpressionError(
                f"{label}: the CUDA source {verb} a function {name}(Index ...), and on the host there is "
                f"{'one' if wanted else 'none'}; write both or neither"
            )
