"""Edge programs on the device: write the tree of an expression as CUDA C++.

The text calls functions of ``cuda/edge_op.cuh``, and has to come after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels.program import DeviceProgram
from dask_graphflow.kernels.sources import C_TYPES

from .after import OWN_FUNCTIONS
from .expressions import INTEGERS, LEAVES, Node, is_fenced, spelled
from .typed import Code, TypedProgram

_CALLS = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "//": "quotient",
    "%": "rest",
    "<<": "shifted_left",
    ">>": "shifted_right",
    "negative": "negative",
    "abs": "absolute",
    "min": "smaller",
    "max": "larger",
} | {name: name for name in OWN_FUNCTIONS}


def compiled(program: TypedProgram) -> DeviceProgram:
    """Return an edge program for the advance on the device, which compiles it when it first runs."""
    return DeviceProgram(
        struct_name(program),
        struct(program),
        layout(program),
        list(program.columns).index(program.target),
        len(program.columns),
        program.first_hit,
        program.weight_dtype is not None,
    )


def struct_name(program: TypedProgram) -> str:
    """Return the name of an edge program's struct."""
    return f"EdgeOp_{program.name}"


def struct(program: TypedProgram) -> str:
    """Return an edge program as a struct with its columns, its parameters and the three functions."""
    needs_weight = program.weight_dtype is not None
    flags = f"FIRST_HIT = {_bool(program.first_hit)}, NEEDS_WEIGHT = {_bool(needs_weight)}"
    flags += f", AFTER = {_bool(program.after is not None)}"
    return f"""\
struct {struct_name(program)} {{
    using Value = {C_TYPES[program.value_dtype]};
    using Index = {C_TYPES[program.index_dtype]};
    using Weight = {C_TYPES[program.weight_dtype or "bool"]};
    static constexpr edge::Slot SLOT = edge::Slot::{program.slot.upper()};
    static constexpr bool {flags};

{_members(program)}
{_function("Value* target() const", [f"return {program.target}_;"])}
{_functions(program)}
{_function("bool after(Index dst, long long step) const", _after(program))}
{_function("static Value combine(Value old, Value message)", _returned(program.combine))}
}};
"""


def layout(program: TypedProgram) -> np.dtype[Any]:
    """Return the members of the struct as a dtype: first the pointers, then the parameters."""
    members = [*((name, "u8") for name in program.columns), *program.params.items()]
    return np.dtype(members, align=True)


def vertex_struct(
    roots: Sequence[Node], reads: Mapping[tuple[str, Any], tuple[str, bool]], *, assigns: bool
) -> tuple[str, np.dtype[Any]]:
    """Return expressions per vertex as a struct, and its members as a dtype.

    `reads` has the dtype of what the expressions read, by the kind and value of the nodes, and whether each
    vertex has a value of its own. With `assigns`, the struct has pointers to columns, and a function that
    assigns the values to them.
    """
    # The first member is the number of vertices.
    lines, members = [f"{C_TYPES['uint64']} count"], [("count", "u8")]
    for i, root in enumerate(roots if assigns else ()):
        lines.append(f"{C_TYPES[root.dtype]}* to{i}")
        members.append((f"to{i}", "u8"))
    names = {}
    for i, (read, (dtype, per_vertex)) in enumerate(reads.items()):
        c_type = f"const {C_TYPES[dtype]}*" if per_vertex else C_TYPES[dtype]
        lines.append(f"{c_type} of{i}")
        members.append((f"of{i}", "u8" if per_vertex else dtype))
        names[read] = f"of{i}[vertex]" if per_vertex else f"of{i}"

    def spell(node: Node, args: list[str]) -> str:
        return names[node.kind, node.value] if node.kind in LEAVES else _spelled(node, args)

    head, (code, values) = f"{C_TYPES[roots[0].dtype]} value", _written(spell, *roots)
    if assigns:
        head, (compute, assign) = (
            "void assign",
            _assigned(values, [f"to{i}[vertex]" for i in range(len(roots))]),
        )
        code += compute + assign
    else:
        code.append(f"return {values[0]};")
    text = "".join(f"    {line};\n" for line in lines)
    text += _function(f"{head}(unsigned long long vertex) const", code)
    return f"struct Values {{\n{text}}};\n", np.dtype(members, align=True)


def _members(program: TypedProgram) -> str:
    lines, after = [], program.after
    changes = {**after.always, **after.kept} if after else {}
    for name, dtype in program.columns.items():
        constant = "" if name == program.target or name in changes else "const "
        lines.append(f"    {constant}{C_TYPES[dtype]}* {name}_;\n")
    lines += [f"    {C_TYPES[dtype]} {name}_;\n" for name, dtype in program.params.items()]
    return "".join(lines)


def _functions(program: TypedProgram) -> str:
    code = program.code
    if isinstance(code, Code):
        always = _function("bool cond(Index) const", ["return true;"])
        return code.cuda if code.cond else f"{code.cuda}\n{always}"
    heads = "Value signal(Index src, Index dst, Weight weight) const", "bool cond(Index dst) const"
    return "".join(_function(head, _returned(tree)) for head, tree in zip(heads, code, strict=True))


def _after(program: TypedProgram) -> list[str]:
    if program.after is None:
        return ["return true;"]
    always, kept = program.after.always, program.after.kept
    lines, (keep, *values) = _written(_spelled, *program.after.roots)
    compute, assign = _assigned(values, [f"{name}_[dst]" for name in (*always, *kept)])
    count = len(always)
    lines += [f"const bool keep = {keep};", *compute[:count]]
    lines += ["if (keep) {", *compute[count:], *assign[count:], "}"]
    return [*lines, *assign[:count], "return keep;"]


def _returned(tree: Node) -> list[str]:
    lines, (value,) = _written(_spelled, tree)
    return [*lines, f"return {value};"]


def _function(head: str, lines: Sequence[str]) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f"    __device__ __forceinline__ {head}\n    {{\n{body}    }}\n"


def _assigned(values: Sequence[str], columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return lines that compute values, and lines that assign them when all of them are computed."""
    return (
        [f"const auto new{i} = {value};" for i, value in enumerate(values)],
        [f"{column} = new{i};" for i, column in enumerate(columns)],
    )


def _written(spell: Callable[[Node, list[str]], str], *roots: Node) -> tuple[list[str], list[str]]:
    """Return lines that define variables, and the code of each tree, which reads them."""
    variables, texts = spelled(spell, *roots)
    return [f"const {C_TYPES[dtype]} {name} = {text};" for dtype, name, text in variables], texts


def _spelled(node: Node, args: list[str]) -> str:
    match node.kind:
        case "literal":
            return _literal(node)
        case "name":
            return str(node.value)
        case "parameter":
            return f"{node.value}_"
        case "column":
            name, end = node.value
            return f"{name}_[{end}]"
        case "convert":
            if node.dtype in INTEGERS and node.args[0].dtype.startswith("float"):
                return f"edge::to_{node.dtype}({args[0]})"
            return f"static_cast<{C_TYPES[node.dtype]}>({args[0]})"
        case "choose":
            return f"({args[0]} ? {args[1]} : {args[2]})"
        case "not":
            return f"!{args[0]}"
        case "~":
            return f"(~{args[0]})"
        case "and" | "or":
            return f"({(' && ' if node.kind == 'and' else ' || ').join(args)})"
    if node.kind in _CALLS:
        return f"edge::{_CALLS[node.kind]}({', '.join(args)})"
    left = f"edge::fenced({args[0]})" if is_fenced(node, args) else args[0]
    return f"({left} {node.kind} {args[1]})"


def _literal(node: Node) -> str:
    if node.dtype == "bool":
        return _bool(node.value)
    if node.dtype == "int32":
        return f"static_cast<int>({node.value}ll)"
    if node.dtype == "uint64":
        return f"{node.value}ull"
    if node.dtype == "int64":
        # C++ has no negative literals, and the absolute value of the smallest int64 is too large for one.
        return f"({node.value + 1}ll - 1)" if node.value < 0 else f"{node.value}ll"
    sign = "-" if math.copysign(1, node.value) < 0 else ""
    if math.isinf(node.value):
        return f"static_cast<{C_TYPES[node.dtype]}>({sign}edge::infinity())"
    if node.dtype == "float32":
        return f"({float(np.float32(node.value)).hex()}f)"
    return f"({float(node.value).hex()})"


def _bool(value: bool) -> str:
    return "true" if value else "false"
