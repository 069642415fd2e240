"""Edge programs on the device: write the tree of an expression as CUDA C++.

The text calls functions of ``cuda/edge_op.cuh``, and has to come after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dask_graphflow.kernels.program import DeviceProgram

from .after import OWN_FUNCTIONS
from .expressions import INTEGERS, LEAVES, Node, spelled
from .typed import Code, TypedProgram

C_TYPES = {
    "bool": "bool",
    "int32": "int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
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
_COMBINE = {
    "min": "edge::minimum(old, message)",
    "max": "edge::maximum(old, message)",
    "add": "edge::add(old, message)",
    "or": "old | message",
}
_FUNCTION = "    __device__ __forceinline__ "
_NO_COND = "bool cond(Index) const { return true; }\n"


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
{_FUNCTION}Value* target() const {{ return {program.target}_; }}

{_functions(program)}
{_FUNCTION}bool after(Index dst, long long step) const
    {{
{_after(program)}
    }}
{_FUNCTION}static Value combine(Value old, Value message)
    {{
        return {_COMBINE[program.slot]};
    }}
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

    vertex = "(unsigned long long vertex) const\n"
    functions = [
        f"{_FUNCTION}{C_TYPES[root.dtype]} value{i}{vertex}{_body(root, spell)}"
        for i, root in enumerate(roots)
    ]
    if assigns:
        # All values are computed before the first one is assigned.
        steps = [f"        const auto new{i} = value{i}(vertex);\n" for i in range(len(roots))]
        steps += [f"        to{i}[vertex] = new{i};\n" for i in range(len(roots))]
        functions.append(f"{_FUNCTION}void assign{vertex}    {{\n{''.join(steps)}    }}\n")
    text = "".join([*(f"    {line};\n" for line in lines), *functions])
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
        return code.cuda if code.cond else f"{code.cuda}\n{_FUNCTION}{_NO_COND}"
    signal, cond = (_body(tree) for tree in code)
    return (
        f"{_FUNCTION}Value signal(Index src, Index dst, Weight weight) const\n{signal}\n"
        f"{_FUNCTION}bool cond(Index dst) const\n{cond}"
    )


def _after(program: TypedProgram) -> str:
    if program.after is None:
        return "        return true;"
    always, kept = program.after.always, program.after.kept
    lines, (keep, *values) = _written(_spelled, *program.after.roots)
    lines.append(f"const bool keep = {keep};")
    # All values are computed before the first one is assigned.
    compute = [f"const auto new{i} = {value};" for i, value in enumerate(values)]
    assign = [f"{name}_[dst] = new{i};" for i, name in enumerate((*always, *kept))]
    count = len(always)
    if_kept = [f"    {line}" for line in compute[count:] + assign[count:]]
    lines += [*compute[:count], "if (keep) {", *if_kept, "}"]
    return "\n".join(f"        {line}" for line in [*lines, *assign[:count], "return keep;"])


def _body(tree: Node, spell: Callable[[Node, list[str]], str] | None = None) -> str:
    lines, (text,) = _written(spell or _spelled, tree)
    lines = [f"        {line}\n" for line in [*lines, f"return {text};"]]
    return "".join(["    {\n", *lines, "    }\n"])


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
    left = f"edge::fenced({args[0]})" if node.args[0].dtype.startswith("float") else args[0]
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
