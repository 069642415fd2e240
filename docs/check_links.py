"""Check that each link of the built site leads to a file and a heading that are there. Needs no network.

Usage: python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and anchors."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


def broken(root: Path) -> list[str]:
    """Return the broken links of a site, each with its page."""
    files = (path for path in root.rglob("*.html") if "_static" not in path.parts)
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in files}
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
                found.append(f"{path.relative_to(root.resolve())}: {link}")
    return found


def main() -> int:
    """Print the broken links; return 1 if there are any, or if the site has no page."""
    root = Path(sys.argv[1])
    if not any(root.rglob("*.html")):
        print(f"no page lies in {root}")
        return 1
    found = broken(root)
    print("\n".join(found) if found else "All links work")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
