"""Docstrings of the functions as help of their commands."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

from .errors import in_options


def documented(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the description of a function, and those of its parameters by name."""
    text = inspect.getdoc(function) or function.__name__  # python -OO removes docstrings
    names = set(inspect.signature(function).parameters)
    described, *sections = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    titled = dict(zip(sections[::2], sections[1::2], strict=True))
    helps = {}
    for entry in re.split(r"\n(?=\S)", titled.get("Parameters", "").strip()):
        head, _, body = entry.partition("\n")
        for name in head.partition(" : ")[0].split(", "):
            helps[name] = _plain(textwrap.dedent(body), names)
    described = re.sub(r"^Return\b", "Compute", described.strip())
    return _plain(described, names), helps


def _plain(text: str, names: set[str]) -> str:
    """Return text without markup, and with options in place of parameters."""
    text = re.sub(r":\w+:`[~.]?(?:[\w.]+\.)?(\w+)`", r"\1", text)
    text = re.sub(r" ?\[\d+\]_", "", text)
    text = re.sub(r"(?<!\*)\*(\w[^*\n]*)\*(?!\*)", r"\1", text)  # emphasis
    text = re.sub(
        r"(?<!`)`(\w+)`(?!`)",
        lambda m: f"--{m[1].replace('_', '-')}" if m[1] in names else m[1],
        text,
    )
    text = in_options(text.replace("``", ""), names)
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
