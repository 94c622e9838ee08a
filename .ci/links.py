#!/usr/bin/env python3
"""Checks that each link between the repository's files leads somewhere: each relative link and each anchor in Markdown. It uses no
network.

    .ci/links.py              checks
    .ci/links.py --self-test  tests this check on small trees

A page that rustdoc includes is shown elsewhere, so its links are addresses, or paths of items, which rustdoc checks. A path of
one word that is a page beside it, as `threads#cores` in the guide, has its anchor checked here. The guide's first page,
`guide/mod.rs`, is read, too.
"""

import os
import re
import sys

# Write no cache files beside the sources.
sys.dont_write_bytecode = True
from markdown import ROOT, anchors, links, listed, self_test

GUIDE = "streamflow/src/guide/mod.rs"
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:(?!:)", re.I)
# The path of an item: `crate::a::B`, `a!`, `fn@a`, and an anchor.
ITEM = re.compile(r"(?:\w+@)?[\w:]+(?:\(\)|!)?(?:#[\w.-]*)?")


def included(root):
    """The pages that rustdoc includes."""
    pages = set()
    for path in listed(root, "streamflow/src/*.rs", "streamflow-macros/src/*.rs", "crates/*.rs"):
        for page in re.findall(r"doc = include_str!\(\"([^\"]+\.md)\"\)", (root / path).read_text()):
            pages.add(os.path.normpath(os.path.join(os.path.dirname(path), page)))
    return pages


def texts(root):
    """The Markdown of each file by its path."""
    found = {path: (root / path).read_text() for path in listed(root, "*.md")}
    if (root / GUIDE).exists():
        lines = (root / GUIDE).read_text().split("\n")
        found[GUIDE] = "\n".join(re.sub(r"^//! ?", "", line) if line.startswith("//!") else "" for line in lines)
    return found


def problem(root, path, target, pages, known):
    """Why a link leads nowhere, or `None`."""
    folder, is_item = os.path.dirname(path), path in pages or path == GUIDE
    file, _, anchor = target.partition("#")
    if is_item and file:
        beside = os.path.join(folder, f"{file}.md")
        if not ITEM.fullmatch(target):
            return "rustdoc shows this page elsewhere: write an address, or the path of an item"
        if not anchor or beside not in known:
            return None
        return None if anchor in known[beside] else f"{beside} has no heading with that anchor"
    other = os.path.normpath(os.path.join(folder, file)) if file else path
    if file.startswith("/") or other.startswith(".."):
        return "it leads out of the repository"
    if not (root / other).exists():
        return f"there is no {other}"
    # An anchor in a file of another kind is a line.
    return f"{other} has no heading with that anchor" if anchor and other in known and anchor not in known[other] else None


def problems(root):
    """The problems, one line each."""
    pages, found = included(root), texts(root)
    known = {path: anchors(text) for path, text in found.items()}
    for path, text in found.items():
        for line, target in links(text):
            if not ADDRESS.match(target) and (why := problem(root, path, target, pages, known)):
                yield f"{path}:{line}: {target}: {why}"


# ---- the self-test -------------------------------------------------------------------------------

GOOD = {
    "README.md": "# A title, and `code`\n\n[a](docs/a.md) [b](docs/a.md#one-two) [c](docs) [d](#a-title-and-code) [e](https://a.b/c#d)\n",
    "docs/a.md": "# One two\n\n![p](p.png) [up](../README.md \"title\") `[code](nowhere)`\n\n```text\n[code](nowhere)\n```\n",
    "docs/p.png": "",
    "streamflow/src/guide/mod.rs": '//! [T](threads) and [its part](threads#cores)\n\n#[doc = include_str!("threads.md")]\npub mod threads {}\n',
    "streamflow/src/guide/threads.md": "# Threads\n\n## Cores\n\n[item](crate::a::B) [macro](graph!) [here](#cores) [page](mod@threads)\n",
}
CASES = {
    "good": ({}, None),
    "no file": ({"docs/a.md": "[x](b.md)"}, "docs/a.md:1: b.md: there is no docs/b.md"),
    "no picture": ({"docs/p.png": None}, "p.png: there is no docs/p.png"),
    "no picture in HTML": ({"docs/a.md": "# One two\n<img src=\"q.png\">"}, "docs/a.md:2: q.png"),
    "no anchor": ({"docs/a.md": "# One\n"}, "docs/a.md#one-two: docs/a.md has no heading"),
    "no anchor here": ({"docs/a.md": "# One two\n\n[x](#two)"}, "#two: docs/a.md has no heading"),
    "the second of two headings": ({"docs/a.md": "# One two\n# One two\n[x](#one-two-1)"}, None),
    "a reference": ({"docs/a.md": "# One two\n[x][y]\n\n[y]: z.md\n"}, "docs/a.md:4: z.md"),
    "outside": ({"docs/a.md": "# One two\n[x](../../x)"}, "out of the repository"),
    "after code": ({"docs/a.md": "# One two\n```\n[x](y)\n```\n[x](z)"}, "docs/a.md:5: z: there is no"),
    "in a comment": ({"docs/a.md": "# One two\n<!-- [x](y) -->"}, None),
    "no anchor in the guide": ({"streamflow/src/guide/threads.md": "# Threads\n"}, "mod.rs:1: threads#cores: streamflow/src/guide/threads.md"),
    "a file in a page of rustdoc": ({"streamflow/src/guide/threads.md": "## Cores\n[x](../../../README.md)"}, "rustdoc shows this page elsewhere"),
}


def main():
    if "--self-test" in sys.argv:
        return self_test(GOOD, CASES, problems)
    if found := list(problems(ROOT)):
        sys.exit("\n".join(found))
    count = sum(1 for text in texts(ROOT).values() for _ in links(text))
    print(f"no link is dead: {count} links in Markdown, without the network")


main()
