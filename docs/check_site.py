"""Check the built site: each link leads to a page and a heading, and each picture has alternative text.

Needs no network. Usage: python docs/check_site.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, what can be linked to in it, and its pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.pictures: list[tuple[str, str]] = []  # the file and the alternative text of each
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links, anchors and pictures."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value)
        if tag == "img":
            given = dict(attrs)
            self.pictures.append((given.get("src") or "", given.get("alt") or ""))


def pages_of(root: Path) -> dict[Path, Page]:
    """Return the pages of a site by their files."""
    files = (path for path in root.rglob("*.html") if "_static" not in path.parts)
    return {path.resolve(): Page(path.read_text("utf-8")) for path in files}


def broken(pages: dict[Path, Page], root: Path) -> list[str]:
    """Return the broken links of a site, each with its page."""
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            there = target.exists()
            if there and anchor and target in pages:
                there = anchor in pages[target].anchors
            if not there:
                found.append(f"{path.relative_to(root.resolve())}: {link} leads nowhere")
    return found


def wordless(pages: dict[Path, Page], root: Path) -> list[str]:
    """Return the pictures of a site without alternative text, each with its page.

    Sphinx writes the path of the file if a page has no text for it.
    """
    return [
        f"{path.relative_to(root.resolve())}: {file} has no alternative text. Begin its cell with "
        ':mystnb: {image: {alt: "..."}}'
        for path, page in pages.items()
        for file, words in page.pictures
        if not words.strip() or Path(words).name == Path(unquote(file)).name
    ]


def main() -> int:
    """Print what is wrong with a site; return 1 if anything is, or if the site has no page."""
    root = Path(sys.argv[1])
    pages = pages_of(root)
    if not pages:
        print(f"{root} has no page")
        return 1
    found = broken(pages, root) + wordless(pages, root)
    print("\n".join(found) if found else "All links work, and all pictures have alternative text")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
