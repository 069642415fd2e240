"""Edge programs on the host: write the tree of an expression as Python code for Numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dask_graphflow.kernels.compiling import uncached
from dask_graphflow.kernels.program import HostFunctions, HostProgram

from . import host_operations
from .after import OWN_FUNCTIONS
from .expressions import INTEGERS, NUMBER_TYPES, Node, is_fenced, spelled
from .typed import Code, TypedProgram

_TYPES = {name: getattr(np, name) for name in (*NUMBER_TYPES, "uintp", "inf")}


def compiled(program: TypedProgram) -> HostProgram:
    """Return an edge program for the advance on the host."""
    return HostProgram(
        _made(program, host_operations.compiled),
        # The meaning of functions by hand is in no text.
        "" if isinstance(program.code, Code) else python(program),
        list(program.columns).index(program.target),
        program.first_hit,
        program.weight_dtype is not None,
    )


def functions(program: TypedProgram) -> HostFunctions:
    """Return the functions of an edge program, which Python too can call."""
    return _made(program, partial(uncached, error_model="numpy"))


def _made(program: TypedProgram, compile_: Callable[..., Any]) -> HostFunctions:
    """Return the functions of an edge program, compiled when they are first called."""
    names, code = _TYPES | vars(host_operations), program.code
    if isinstance(code, Code):
        names |= {"given_signal": _as_compiled(code.signal), "given_cond": _as_compiled(code.cond)}
    exec(compile(python(program), f"<EdgeOp {program.name!r}>", "exec"), names)
    return HostFunctions(*(compile_(names[name]) for name in HostFunctions._fields))


def python(program: TypedProgram) -> str:
    """Return the functions as Python code that Numba compiles."""
    value, code = program.value_dtype, program.code
    if isinstance(code, Code):
        signal = f"    return {value}(given_signal(columns, src, dst, weight))\n"
        cond = f"    return {'given_cond(columns, dst)' if code.cond else True}\n"
    else:
        signal, cond = (_body(program, tree) for tree in code)
    return (
        f"def signal(columns, src, dst, weight):\n{signal}\n"
        f"def cond(columns, dst):\n{cond}\n"
        f"def combine(old, message):\n{_body(program, program.combine)}\n"
        f"def after(columns, dst, step):\n{_after(program)}\n"
    )


def _after(program: TypedProgram) -> str:
    if program.after is None:
        return "    return True"
    after, names = program.after, list(program.columns)
    lines, (keep, *values) = _written(program, *after.roots)
    lines.append(f"keep = {keep}")
    # All values are computed before the first one is assigned.
    compute = [f"new{i} = {value}" for i, value in enumerate(values)]
    columns = (names.index(name) for name in (*after.always, *after.kept))
    assign = [f"columns[{column}][uintp(dst)] = new{i}" for i, column in enumerate(columns)]
    count = len(after.always)
    lines += compute[:count]
    if after.kept:
        lines += ["if keep:", *(f"    {line}" for line in compute[count:] + assign[count:])]
    return "".join(f"    {line}\n" for line in [*lines, *assign[:count], "return keep"])


def _as_compiled(function: Any) -> Any:
    # None if there is no cond. A function that Numba has compiled already keeps its author's options.
    # Functions by hand may do everything that Numba can compile.
    return (
        function
        if function is None or hasattr(function, "py_func")
        else host_operations.compiled(function, allocates=True)
    )


def _body(program: TypedProgram, tree: Node) -> str:
    lines, (text,) = _written(program, tree)
    return "".join(f"    {line}\n" for line in [*lines, f"return {text}"])


def _written(program: TypedProgram, *roots: Node) -> tuple[list[str], list[str]]:
    """Return lines that assign variables, and the code of each tree, which reads them."""
    arguments = [*program.columns, *program.params]

    def spell(node: Node, args: list[str]) -> str:
        if node.kind == "column":
            name, end = node.value
            # With a signed index, Numba would check whether it is negative and counts from the end.
            return f"columns[{arguments.index(name)}][uintp({end})]"
        if node.kind == "parameter":
            return f"columns[{arguments.index(node.value)}]"
        return _spelled(node, args)

    variables, texts = spelled(spell, *roots)
    return [f"{name} = {written}" for _, name, written in variables], texts


def _spelled(node: Node, args: list[str]) -> str:
    whole = node.dtype in INTEGERS
    match node.kind:
        case "literal":
            return repr(node.value) if node.dtype == "bool" else f"{node.dtype}({node.value!r})"
        case "name":
            return f"{node.dtype}({node.value})"
        case "convert":
            checked = whole and node.args[0].dtype.startswith("float")
            return f"{'to_' if checked else ''}{node.dtype}({args[0]})"
        case "choose":
            return f"({args[1]} if {args[0]} else {args[2]})"
        case "not":
            return f"(not {args[0]})"
        case "and" | "or":
            return f"({f' {node.kind} '.join(args)})"
        case "min" | "max":
            return f"{'smaller' if node.kind == 'min' else 'larger'}({args[0]}, {args[1]})"
        case _ if is_fenced(node, args):
            return f"(fenced({args[0]}) {node.kind} {args[1]})"
        case kind if kind in OWN_FUNCTIONS:
            written = f"{kind}({args[0]})"
        case "negative":
            written = f"negative({args[0]})" if whole else f"(-{args[0]})"
        case "abs":
            written = f"absolute({args[0]})" if whole else f"abs({args[0]})"
        case "//" | "%":
            name = "quotient" if node.kind == "//" else "rest"
            one = f", {node.dtype}(1)" if node.kind == "//" and not whole else ""
            prefix = "unsigned_" if node.dtype == "uint64" else "" if whole else "float_"
            written = f"{prefix}{name}({args[0]}, {args[1]}{one})"
        case "~":
            written = f"(~{args[0]})"
        case "<<" | ">>":
            written = f"shifted_{'left' if node.kind == '<<' else 'right'}({args[0]}, {args[1]})"
        case "+" | "-" | "*" if whole:
            # Numba tells LLVM that signed integers do not overflow, but not that unsigned ones do not.
            written = f"(uint64({args[0]}) {node.kind} uint64({args[1]}))"
        case _:
            written = f"({args[0]} {node.kind} {args[1]})"
    return f"{node.dtype}({written})" if whole else written
