"""Docstrings as objects: a numpydoc docstring is parsed once, and written from its parts."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)


class Entry(NamedTuple):
    """The description of a parameter, or of several that are described together."""

    names: tuple[str, ...]
    type: str  # the text after the names
    text: str  # what the docstring says about them
    note: str = ""  # what only callers in Python need to know

    @classmethod
    def parse(cls, entry: str) -> Entry:
        """Return the entry that consists of a line with names and a type, and of indented text."""
        head, _, text = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        return cls(tuple(names.split(", ")), kind, textwrap.dedent(text).rstrip())

    def __str__(self) -> str:
        head = ", ".join(self.names) + (f" : {self.type}" if self.type else "")
        return f"{head}\n{textwrap.indent(self.text + self.note, ' ' * 4)}"


@dataclass(frozen=True)
class Documentation:
    """The parts of a docstring."""

    description: str = ""  # the text before the first section. Its first paragraph is a summary.
    # The entries of the parameters, by their first names.
    parameters: Mapping[str, Entry] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)  # the other sections by title

    @classmethod
    def parse(cls, docstring: str | None) -> Documentation:
        """Return the parts of a docstring; all are empty if there is none, as with ``python -OO``."""
        description, *parts = SECTION.split(inspect.cleandoc(docstring or ""))
        titled = zip(parts[::2], (text.strip() for text in parts[1::2]), strict=True)
        sections = {"Returns": "", "Raises": "", **dict(titled)}
        own = sections.pop("Parameters", "")
        entries = [Entry.parse(entry) for entry in re.split(r"\n(?=\S)", own) if entry]
        return cls(description.strip(), {entry.names[0]: entry for entry in entries}, sections)

    def of(self, name: str) -> str:
        """Return the text about a parameter; empty if there is none."""
        return next((one.text for one in self.parameters.values() if name in one.names), "")

    def __str__(self) -> str:
        described = "\n".join(map(str, self.parameters.values()))
        sections = {"Parameters": described, **self.sections}
        titled = [f"{t}\n{'-' * len(t)}\n{text.strip()}" for t, text in sections.items() if text]
        return "\n\n".join([self.description, *titled])
