"""Every link of a built site must lead somewhere, and nothing may be fetched: no network needed.

python docs/_site/links.py build/docs
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src")}
OTHER = ("http", "https", "mailto", "data", "javascript")


@dataclass
class Page(HTMLParser):
    """What a page names, what it links to, and what it loads."""

    file: Path
    names: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names |= {str(given[key]) for key in ("id", "name") if given.get(key)}
        sheet = tag == "link" and "stylesheet" in (given.get("rel") or "")
        for key, value in attrs:
            if value and ((tag, key) in LOADS or (sheet and key == "href")):
                self.loaded.append(value)
            elif value and key == "href":
                self.links.append(value)


def broken(site: Path) -> Iterator[str]:
    """A line for each link that leads nowhere and each thing that another server would be asked."""
    files = [file for file in site.rglob("*.html") if "_static" not in file.parts]
    pages = {file.resolve(): Page(file) for file in files}
    for file, page in pages.items():
        where = file.relative_to(site.resolve())
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme in OTHER or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{where} loads {link}"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{where} links to {link}, which is not there"
            elif not is_there(unquote(parts.fragment), pages.get(target)):
                yield f"{where} links to {link}, but that page has no such place"


def is_there(place: str, page: Page | None) -> bool:
    return not place or page is None or place in page.names


if __name__ == "__main__":
    found = sorted(set(broken(Path(sys.argv[1]))))
    print("\n".join(found) if found else "every link leads somewhere")
    sys.exit(bool(found))
