"""Documentation of the functions as help of their commands."""

from __future__ import annotations

import re
from collections.abc import Collection

from dask_graphflow.declarations.documentation import Documentation

from .errors import in_options


def described(documentation: Documentation, names: Collection[str]) -> str:
    """Return the description of a function whose options have some names."""
    return plain(re.sub(r"^Return\b", "Compute", documentation.description), names)


def plain(text: str, names: Collection[str]) -> str:
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
