"""The language of edge programs: Python expressions that are checked and typed.

The text of an expression becomes a tree of :class:`Node`. Each node has one dtype, and every conversion is
a node of its own. The meaning of an expression is decided only here: the printers, :mod:`.host` and
:mod:`.cuda`, just write the tree as code. If the columns are not known yet, an expression is checked
as far as possible.

Types are promoted as in NumPy 2 (NEP 50), where literals are weak. There is one exception: a uint64 and a
signed integer, which NumPy promotes to float64, cannot be combined.
"""

from __future__ import annotations

import ast
import operator
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dask_graphflow.exceptions import ExpressionError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown

SIGNED = ("int32", "int64")
INTEGERS = (*SIGNED, "uint64")
NUMBER_TYPES = (*INTEGERS, "float32", "float64")
COLUMN_TYPES = ("bool", *NUMBER_TYPES)
WEAK = ("int", "float")  # for literals, until they are combined with something that has a dtype
UNKNOWN = ("number", "any")  # before the columns are known; "any" may also be a truth value

HOLDS = {
    "int32": ("int32",),
    "int64": ("int32", "int64"),
    "uint64": ("uint64",),
    "float32": ("float32",),
    "float64": ("int32", "float32", "float64"),
}
"""The dtypes that a column takes without an explicit conversion: it can hold all of their values."""

LARGEST_POWER = 16
LARGEST_WHOLE = (
    sys.float_info.max
)  # the limit of literals and of values computed from them: 9**9**9 would take hours
DEEPEST = 20  # maximum number of operations that are written within each other
SHOWN = 80  # maximum number of characters of an expression in an error message

ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[..., Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
}
_BITWISE = ("&", "|", "^", "<<", ">>", "~")
COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[..., Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
_COMPARED = [kind for kind, _ in COMPARISONS.values()]
_CONVERSIONS = {"int": "int64", "float": "float64"} | {name: name for name in NUMBER_TYPES}
FUNCTIONS = ("min", "max", "abs", *_CONVERSIONS)
RESERVED = ("src", "dst", "weight", "inf")
LEAVES = ("name", "parameter", "column")  # kinds of nodes whose values are given
OPERATIONS = (
    "+ - * / // % ** & | ^ ~ << >>, comparisons, and, or, not, `a if c else b`, "
    f"and the functions {', '.join(FUNCTIONS)}"
)

# CPython 3.11 adds up the depth of the trees of all threads, and raises SystemError (gh-106905).
_PARSING = threading.Lock()


@dataclass(frozen=True, eq=False)
class Node:
    """One operation or value of an expression."""

    # ``literal``, ``name``, ``parameter``, ``column``, ``convert``, ``negative``, ``abs``, ``min``,
    # ``max``, ``not``, ``and``, ``or``, ``choose`` (condition, then, else), or an operator as it is
    # written.
    kind: str
    # The dtype of the result. The operands of arithmetic or of a comparison all have the same dtype.
    dtype: str
    # The operands. A node that is used as an operand twice is computed once.
    args: tuple[Node, ...] = ()
    # The value of a literal, the name of a parameter or of another value, or a column's name and its end.
    value: Any = None


@dataclass(frozen=True)
class Scope:
    """The names that an expression may use, and their dtypes.

    The dtypes of columns are None if they are not known yet.
    """

    names: Mapping[str, str]
    columns: dict[str, str] | None = None
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Reader:
    """Reads one expression.

    Parameters
    ----------
    label : str
        A description of the expression for error messages.
    text : str
        The expression.
    scope : Scope
        The names that it may use.

    Attributes
    ----------
    columns : dict
        The column nodes, by column and end.
    names : set of str
        The parameters, and the names such as ``src``, ``dst`` and ``weight``, that it reads as values.
    """

    label: str
    text: str
    scope: Scope
    columns: dict[tuple[str, str], Node] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    allowed: ClassVar[str] = (
        "allowed are numbers, True, False, inf, src, dst, weight, parameters, column[src], column[dst], "
        f"{OPERATIONS}"
    )

    def signal(self, target: str) -> Node:
        """Read the expression as a message for column `target`; return a node with the column's dtype.

        It raises :class:`.ExpressionError` if the expression is not valid in the language, or if the column
        cannot hold its values.
        """
        tree, node = self._root()
        node = self._number(tree, node)
        dtype = "number" if self.scope.columns is None else self.scope.columns[target]
        if dtype in UNKNOWN or node.dtype in HOLDS[dtype]:
            return self._convert(tree, node, dtype)
        if node.dtype in WEAK and not (node.dtype == "float" and dtype in INTEGERS):
            return self._convert(tree, node, dtype)
        given = _CONVERSIONS.get(node.dtype, node.dtype)
        raise self._error(
            tree,
            f"this is {given}, and column {target!r} is {dtype}, which cannot hold all of {given}; "
            f"make the column {given}, or convert with {dtype}(...)",
        )

    def cond(self) -> Node:
        """Read the expression as a condition on ``dst``; return a truth value.

        It raises :class:`.ExpressionError` if the expression is not valid in the language, or is not a
        truth value.
        """
        tree, node = self._root()
        return self._truth(tree, node)

    def _root(self) -> tuple[ast.expr, Node]:
        try:
            tree = parsed(self.text)
            return tree, self._read(tree)
        except SyntaxError as error:
            at = ast.Constant(None, lineno=error.lineno or 1, col_offset=0)
            at.col_offset = max((error.offset or 1) - 1, 0)
            if "integer string conversion" in error.msg:  # Python's limit of 4,300 digits
                raise self._too_large(at) from None
            raise self._error(at, f"this is no expression of Python ({error.msg})") from None
        except (RecursionError, MemoryError):
            raise ExpressionError(
                f"{self.label}: the expression is nested too deeply; write it in fewer steps, or keep "
                "parts of it in columns"
            ) from None
        except ValueError as error:
            if isinstance(error, ExpressionError):
                raise
            raise ExpressionError(
                f"{self.label}: this is no expression of Python ({error})"
            ) from None

    def _error(self, tree: ast.expr, problem: str) -> ExpressionError:
        lines = self.text.splitlines()
        line = lines[tree.lineno - 1] if tree.lineno <= len(lines) else ""
        # Python's column offsets are in bytes.
        start = len(line.encode()[: tree.col_offset].decode(errors="ignore"))
        stop = start + 1
        if tree.end_lineno == tree.lineno and tree.end_col_offset is not None:
            stop = len(line.encode()[: tree.end_col_offset].decode(errors="ignore"))
        elif tree.end_lineno is not None:
            stop = len(line)
        if len(line) > SHOWN:  # show only the part around the error
            first = max(0, min(start - SHOWN // 4, len(line) - SHOWN))
            before = "... " if first else ""
            after = " ..." if first + SHOWN < len(line) else ""
            line = f"{before}{line[first : first + SHOWN]}{after}"
            start, stop = (min(at - first, SHOWN) + len(before) for at in (start, stop))
        mark = " " * start + "^" * max(stop - start, 1)
        return ExpressionError(f"{self.label}: {problem}\n    {line}\n    {mark}")

    def _read(self, tree: ast.expr) -> Node:
        match tree:
            case ast.Constant(value=bool() | int() | float()):
                return self._literal(tree, tree.value)
            case ast.Name():
                return self._name(tree)
            case ast.Subscript():
                return self._column(tree)
            case ast.UnaryOp(op=ast.Not()):
                node = self._truth(tree.operand)
                if _is_weak_literal(node):
                    return self._literal(tree, not node.value)
                return Node("not", "bool", (node,))
            case ast.UnaryOp(op=ast.USub()):
                return self._unary(tree, tree.operand, "negative", operator.neg)
            case ast.UnaryOp(op=ast.Invert()):
                return self._unary(tree, tree.operand, "~", operator.invert)
            case ast.BinOp() if type(tree.op) in ARITHMETIC:
                return self._arithmetic(tree)
            case ast.Compare() if all(type(op) in COMPARISONS for op in tree.ops):
                return self._comparison(tree)
            case ast.BoolOp():
                kind = "and" if isinstance(tree.op, ast.And) else "or"
                return self._logic(tree, kind, [self._truth(value) for value in tree.values])
            case ast.IfExp():
                return self._choice(tree)
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
                return self._call(tree, name, tree.args)
        raise self._error(tree, f"this is not of the language of edge programs; {self.allowed}")

    def _number(self, tree: ast.expr, node: Node | None = None) -> Node:
        node = node or self._read(tree)
        if node.dtype == "bool":
            raise self._error(
                tree, "a truth value where a number is needed; convert it with int(...)"
            )
        return node

    def _operand(self, kind: str, tree: ast.expr) -> Node:
        """Read an operand of arithmetic. Bitwise operators take integers only."""
        node = self._number(tree)
        if kind in _BITWISE and node.dtype.startswith("float"):
            given = _CONVERSIONS.get(node.dtype, node.dtype)
            raise self._error(
                tree, f"this is {given}, and {kind} takes integers; convert it with int(...)"
            )
        return node

    def _truth(self, tree: ast.expr, node: Node | None = None) -> Node:
        node = node or self._read(tree)
        if node.dtype not in ("bool", "any"):
            raise self._error(
                tree, "a number where a truth value is needed; compare it, for example with != 0"
            )
        return node

    def _literal(self, tree: ast.expr, value: Any) -> Node:
        if isinstance(value, bool):
            return Node("literal", "bool", value=value)
        if isinstance(value, int):
            if abs(value) > LARGEST_WHOLE:
                raise self._too_large(tree)
            return Node("literal", "int", value=value)
        if value != value:
            raise self._error(tree, "this is not a number")
        return Node("literal", "float", value=float(value))

    def _too_large(self, tree: ast.expr) -> ExpressionError:
        return self._error(
            tree,
            f"this whole number is larger than {LARGEST_WHOLE:.2g}, and no column can hold it; write a "
            "smaller number, or inf",
        )

    def _fold(self, tree: ast.expr, function: Callable[..., Any], *nodes: Node) -> Node:
        """Evaluate an operation whose operands are all literals, as Python does."""
        try:
            return self._literal(tree, function(*(node.value for node in nodes)))
        except (ArithmeticError, ValueError) as error:  # ValueError: a shift by a negative count
            raise self._error(tree, f"this has no value ({error})") from None

    def _name(self, tree: ast.Name) -> Node:
        if tree.id == "inf":
            return self._literal(tree, float("inf"))
        if tree.id in self.scope.params:
            self.names.add(tree.id)
            return Node("parameter", self.scope.params[tree.id], value=tree.id)
        if tree.id in self.scope.names:
            self.names.add(tree.id)
            return Node("name", self.scope.names[tree.id], value=tree.id)
        if tree.id in ("src", "weight"):
            raise self._error(tree, f"cond is a question about dst alone, and knows no {tree.id}")
        allowed = ", ".join(self.scope.names)
        raise self._error(
            tree,
            f"{tree.id!r} is neither {allowed}, a parameter nor a column's value; "
            f"a column is read as {tree.id}[{next(iter(self.scope.names))}]",
        )

    def _column(self, tree: ast.Subscript) -> Node:
        ends = [name for name in ("src", "dst") if name in self.scope.names]
        match tree:
            case ast.Subscript(value=ast.Name(id=column), slice=ast.Name(id=end)) if end in ends:
                check_column_name(f"{self.label}: column", column)
            case ast.Subscript(slice=ast.Name(id="src")) if "src" not in ends:
                raise self._error(tree, "cond is a question about dst alone, and knows no src")
            case _:
                allowed = " or ".join(f"column[{end}]" for end in ends)
                raise self._error(tree, f"a column is read as {allowed}")
        if (column, end) not in self.columns:
            dtypes = self.scope.columns
            if dtypes is not None and column not in dtypes:
                raise self._error(tree, f"no column {column!r}{nearest(column, dtypes)}")
            dtype = dtypes[column] if dtypes is not None else "any"
            self.columns[column, end] = Node("column", dtype, value=(column, end))
        return self.columns[column, end]

    def _unary(
        self, tree: ast.expr, operand: ast.expr, kind: str, function: Callable[..., Any]
    ) -> Node:
        node = self._operand(kind, operand)
        if _is_weak_literal(node):
            return self._fold(tree, function, node)
        dtype = promoted(node.dtype)
        return Node(kind, dtype, (self._convert(operand, node, dtype),))

    def _arithmetic(self, tree: ast.BinOp) -> Node:
        kind, function = ARITHMETIC[type(tree.op)]
        trees = tree.left, tree.right
        nodes = [self._operand(kind, operand) for operand in trees]
        literal = all(_is_weak_literal(node) for node in nodes)
        if kind == "**":
            return self._power(tree, *nodes, literal=literal)
        if literal:
            base, count = (node.value for node in nodes)
            if kind == "<<" and base and count >= sys.float_info.max_exp:
                raise self._too_large(tree)
            return self._fold(tree, function, *nodes)
        dtype = self._promoted(tree, nodes)
        if kind == "/" and dtype in INTEGERS:
            dtype = "float64"
        return Node(kind, dtype, self._converted(trees, nodes, dtype))

    def _power(self, tree: ast.BinOp, base: Node, exponent: Node, *, literal: bool) -> Node:
        """Read a power as multiplications from the left, on the host and on the device."""
        power = exponent.value if exponent.kind == "literal" and exponent.dtype == "int" else None
        if literal and power is not None:
            # The power has more bits than this, so a power that is too large is never computed.
            bits = max(base.value.bit_length() - 1, 0) * power if base.dtype == "int" else 0
            if bits >= sys.float_info.max_exp:
                raise self._too_large(tree)
            return self._fold(tree, operator.pow, base, exponent)
        if literal or power is None or not 1 <= power <= LARGEST_POWER:
            raise self._error(
                tree.right,
                f"the exponent of ** is a whole number from 1 to {LARGEST_POWER}, written as a literal",
            )
        base = self._convert(tree.left, base, promoted(base.dtype))
        product = base
        for _ in range(power - 1):
            product = Node("*", base.dtype, (product, base))
        return product

    def _comparison(self, tree: ast.Compare) -> Node:
        trees = [tree.left, *tree.comparators]
        nodes = [self._read(operand) for operand in trees]
        parts = []
        for i, (kind, function) in enumerate(COMPARISONS[type(op)] for op in tree.ops):
            pair, ends = nodes[i : i + 2], trees[i : i + 2]
            if all(_is_weak_literal(node) for node in pair):
                parts.append(self._fold(tree, function, *pair))
                continue
            if kind in ("==", "!=") and any(node.dtype == "bool" for node in pair):
                pair = [self._truth(end, node) for end, node in zip(ends, pair, strict=True)]
                parts.append(Node(kind, "bool", tuple(pair)))
                continue
            pair = [self._number(end, node) for end, node in zip(ends, pair, strict=True)]
            dtype = self._promoted(tree, pair)
            parts.append(Node(kind, "bool", self._converted(ends, pair, dtype)))
        return self._logic(tree, "and", parts)

    def _logic(self, tree: ast.expr, kind: str, parts: list[Node]) -> Node:
        if all(_is_weak_literal(part) for part in parts):
            function = all if kind == "and" else any
            return self._fold(tree, lambda *values: function(values), *parts)
        return parts[0] if len(parts) == 1 else Node(kind, "bool", tuple(parts))

    def _choice(self, tree: ast.IfExp) -> Node:
        test = self._truth(tree.test)
        trees = tree.body, tree.orelse
        nodes = [self._read(branch) for branch in trees]
        if any(node.dtype == "bool" for node in nodes):
            nodes = [self._truth(branch, node) for branch, node in zip(trees, nodes, strict=True)]
            dtype = "bool"
        elif all(node.dtype in WEAK for node in nodes):
            # Still weak: the other operand decides the dtype, as for a single literal.
            dtype = "float" if any(node.dtype == "float" for node in nodes) else "int"
        elif all(node.dtype == "any" for node in nodes):
            dtype = "any"
        else:
            dtype = self._promoted(tree, nodes)
        if all(_is_weak_literal(node) for node in (test, *nodes)):
            function = float if dtype == "float" else lambda value: value
            return self._fold(tree, function, nodes[0] if test.value else nodes[1])
        return Node("choose", dtype, (test, *self._converted(trees, nodes, dtype)))

    def _call(self, tree: ast.Call, name: str, trees: Sequence[ast.expr]) -> Node:
        least = 2 if name in ("min", "max") else 1
        if len(trees) < least or (least == 1 and len(trees) > 1):
            count = "two or more values" if least == 2 else "one value"
            raise self._error(tree, f"{name} takes {count}, not {len(trees)}")
        if name == "abs":
            return self._unary(tree, trees[0], "abs", abs)
        if name in _CONVERSIONS:
            return self._conversion(tree, trees[0], _CONVERSIONS[name])
        nodes = [self._number(argument) for argument in trees]
        if all(_is_weak_literal(node) for node in nodes):
            return self._fold(tree, min if name == "min" else max, *nodes)
        dtype = self._promoted(tree, nodes)
        first, *others = self._converted(trees, nodes, dtype)
        for other in others:
            first = Node(name, dtype, (first, other))
        return first

    def _conversion(self, tree: ast.expr, operand: ast.expr, dtype: str) -> Node:
        node = self._read(operand)
        if _is_weak_literal(node):
            function = int if dtype in INTEGERS else float
            return self._convert(tree, self._fold(tree, function, node), dtype)
        if node.dtype in WEAK:
            node = self._convert(operand, node, promoted(node.dtype))
        return node if node.dtype == dtype else Node("convert", dtype, (node,))

    def _promoted(self, tree: ast.expr, nodes: Sequence[Node]) -> str:
        """Return the common dtype of operands."""
        dtypes = [node.dtype for node in nodes]
        signed = next((dtype for dtype in dtypes if dtype in SIGNED), None)
        if signed and "uint64" in dtypes:
            raise self._error(
                tree,
                f"uint64 and {signed} meet here, and no integer type holds both; convert one of them with "
                "uint64(...) or int64(...)",
            )
        return promoted(*dtypes)

    def _converted(
        self, trees: Sequence[ast.expr], nodes: Sequence[Node], dtype: str
    ) -> tuple[Node, ...]:
        return tuple(self._convert(*pair, dtype) for pair in zip(trees, nodes, strict=True))

    def _convert(self, tree: ast.expr, node: Node, dtype: str) -> Node:
        """Convert an operand to the dtype of the operation."""
        if node.dtype == dtype or dtype in UNKNOWN:
            return node
        if node.dtype in WEAK and node.kind == "choose":
            test, *branches = node.args
            return Node("choose", dtype, (test, *(self._convert(tree, b, dtype) for b in branches)))
        if node.dtype in WEAK:
            if not _fits(node.value, dtype):
                raise self._error(
                    tree,
                    f"{_short(node.value)} does not fit {dtype}, the type of what it meets here; "
                    "convert that with int(...) or float(...)",
                )
            value = float(node.value) if dtype.startswith("float") else node.value
            return Node("literal", dtype, value=value)
        return Node("convert", dtype, (node,))


def parsed(text: str) -> ast.expr:
    """Return the syntax tree of an expression.

    Raises
    ------
    SyntaxError, RecursionError, MemoryError, ValueError
        Raised by :func:`ast.parse`.
    """
    with _PARSING:
        return ast.parse(text, mode="eval").body


def is_plain(name: object) -> bool:
    """Return whether a name is valid in both Python and C++."""
    return isinstance(name, str) and name.isidentifier() and name.isascii()


def check_column_name(label: str, name: object) -> None:
    """Raise an error for a column name that expressions or C++ cannot use."""
    if not is_plain(name) or name in RESERVED:
        raise ExpressionError(
            f"{label} {shown(name)} cannot be used by an edge program; a name is of ASCII letters, digits "
            "and _, begins with no digit, and is not src, dst, weight or inf: rename the column"
        )


def scalar(value: Any, dtype: str | None = None) -> Any:
    """Return a number as a NumPy scalar, or None if it is not a number that fits.

    Parameters
    ----------
    value : object
    dtype : str, optional
        By default, a Python bool, int or float becomes a bool, int64 or float64, and a NumPy number keeps
        its dtype if that is one of :data:`COLUMN_TYPES`.

    Examples
    --------
    >>> [scalar(value).dtype.name for value in (True, 7, 0.5, np.uint64(7))]
    ['bool', 'int64', 'float64', 'uint64']
    >>> [scalar(value) for value in (2**63, np.uint8(7), "7")]
    [None, None, None]
    >>> print(scalar(7, "float32"), scalar(0.5, "int64"))
    7.0 None
    """
    if isinstance(value, np.generic):
        if dtype is None:
            return value if value.dtype.name in COLUMN_TYPES else None
        value = value.item()
    kinds = {bool: "bool", int: "int64", float: "float64"}
    own = next((name for kind, name in kinds.items() if isinstance(value, kind)), None)
    dtype = dtype or own
    if own is None or dtype is None or (own == "bool") != (dtype == "bool"):
        return None
    if (own == "float64" and dtype in INTEGERS) or (own != "bool" and not _fits(value, dtype)):
        return None
    return np.dtype(dtype).type(value)


def promoted(*dtypes: str) -> str:
    """Return the dtype to which NumPy 2 promotes some dtypes, which may be weak.

    Examples
    --------
    >>> promoted("int32", "int"), promoted("int32", "float"), promoted("float32", "float")
    ('int32', 'float64', 'float32')
    >>> promoted("int32", "float32"), promoted("int", "int")
    ('float64', 'int64')
    """
    strong = [dtype for dtype in dtypes if dtype not in WEAK]
    if any(dtype in UNKNOWN for dtype in strong):
        return "number"
    if not strong:
        return "float64" if "float" in dtypes else "int64"
    dtype = np.result_type(*strong).name
    return "float64" if "float" in dtypes and dtype in INTEGERS else dtype


def spelled(
    spell: Callable[[Node, list[str]], str], *roots: Node
) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Write trees as code; return the dtype, name and code of each variable, and the code that uses them.

    There is a variable for each node that is used more than once. Deep trees have further variables,
    because Python and C++ limit how deeply parentheses are nested. A variable is computed even if a choice
    does not need it. This is harmless, because no operation of the language fails or is slow. `spell`
    returns the code of one node, given the code of its operands.
    """
    nodes = in_order(*roots)
    uses = Counter(argument for node in nodes for argument in node.args)
    variables: list[tuple[str, str, str]] = []
    texts: dict[Node, str] = {}
    depths: dict[Node, int] = {}  # of the text of each node
    for node in nodes:
        texts[node] = spell(node, [texts[argument] for argument in node.args])
        depths[node] = 1 + max((depths[argument] for argument in node.args), default=0)
        leaf = node.kind in ("literal", "name", "parameter")
        if (uses[node] > 1 and not leaf) or (depths[node] > DEEPEST and node not in roots):
            name = f"t{len(variables)}"
            variables.append((node.dtype, name, texts[node]))
            texts[node], depths[node] = name, 0
    return variables, [texts[root] for root in roots]


def is_fenced(node: Node, args: Sequence[str]) -> bool:
    """Return whether a compiler must not know how the first of two operands was computed; see ``fenced``.

    These are comparisons of floats, except a comparison of a value with itself, which asks for a NaN.
    """
    floats = node.args[0].dtype.startswith("float")
    return floats and node.kind in _COMPARED and args[0] != args[1]


def in_order(*roots: Node) -> list[Node]:
    """Return the nodes of trees, each once and after its operands. A tree can be too deep to recurse."""
    ordered: dict[Node, None] = {}
    left = list(reversed(roots))
    while left:
        node = left[-1]
        waiting = [argument for argument in node.args if argument not in ordered]
        if waiting:
            left += reversed(waiting)
        else:
            ordered[left.pop()] = None
    return list(ordered)


def _is_weak_literal(node: Node) -> bool:
    return node.kind == "literal" and node.dtype in (*WEAK, "bool")


def _short(value: float) -> str:
    return f"{value:.6g}" if abs(value) >= 10**30 else str(value)


def _fits(value: float, dtype: str) -> bool:
    """Return whether a literal fits a dtype. Whole numbers have to be exact; others may be rounded."""
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return bool(limits.min <= value <= limits.max)
    if isinstance(value, int) and abs(value) > 2**63:
        return False
    with np.errstate(over="ignore"):
        rounded = float(np.dtype(dtype).type(value))
    if isinstance(value, int):
        return int(rounded) == value
    return abs(value) == float("inf") or abs(rounded) != float("inf")
