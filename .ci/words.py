#!/usr/bin/env python3
"""Checks that the pages for readers are short: words outside of code blocks and tables, and lines of decisions.

    .ci/words.py              checks, and prints the words of each page
    .ci/words.py --self-test  tests this check on small trees
"""

import re
import sys

# Write no cache files beside the sources.
sys.dont_write_bytecode = True
from markdown import ROOT, listed, prose, self_test

# The most words of each page. A page that is missing has none.
WORDS = {
    "README.md": 1000,
    "CONTRIBUTING.md": 1500,
    "PERFORMANCE.md": 1200,
    "streamflow/src/stream/README.md": 1000,
    "crates/streamflow-driver/src/driver/host/README.md": 1000,
    "crates/streamflow-driver/src/driver/race/README.md": 1000,
    "crates/streamflow-driver/src/driver/replay/README.md": 1000,
}
# The most words of the newest version in the CHANGELOG, and lines of a decision.
VERSION, DECISION = 800, 40


def newest(changelog):
    """The section of the newest version: from the first heading of the second level to the next one."""
    parts = re.split(r"^## ", changelog, flags=re.M)
    return parts[1] if len(parts) > 1 else ""


def counts(root):
    """What is counted: the page, its number, the bound and the unit."""
    for path, most in WORDS.items():
        if (root / path).exists():
            yield path, len(prose((root / path).read_text()).split()), most, "words"
    if (root / "CHANGELOG.md").exists():
        text = newest((root / "CHANGELOG.md").read_text())
        yield "the newest version in CHANGELOG.md", len(prose(text).split()), VERSION, "words"
    for path in listed(root, "docs/decisions/*.md"):
        if not path.endswith("/README.md"):
            yield path, len((root / path).read_text().splitlines()), DECISION, "lines"


def problems(root):
    """The problems, one line each."""
    for name, count, most, unit in counts(root):
        if count > most:
            yield f"{name} has {count} {unit}, and at most {most} are allowed: shorten it, or move a part to a page of its own"


# ---- the self-test -------------------------------------------------------------------------------

GOOD = {
    "README.md": "# Title\n\n" + "word " * 998 + "\n",
    "CHANGELOG.md": "# Changes\n\n## 2\n\n" + "word " * 799 + "\n\n## 1\n\n" + "word " * 1000,
    "docs/decisions/a.md": "line\n" * 40,
    "docs/decisions/README.md": "line\n" * 50,
}
CASES = {
    "good": ({}, None),
    "one word more": ({"README.md": GOOD["README.md"] + "more"}, "README.md has 1001 words"),
    "words of code": ({"README.md": GOOD["README.md"] + "```rust\nlet a = b;\n```\n"}, None),
    "words of a table": ({"README.md": GOOD["README.md"] + "| a | b |\n|---|---|\n| c | d |\n"}, None),
    "words after code": ({"README.md": GOOD["README.md"] + "```\n```\nmore"}, "README.md has 1001"),
    "a long version": ({"CHANGELOG.md": GOOD["CHANGELOG.md"].replace("## 1", "more\n\n## 1")}, "CHANGELOG.md has 801"),
    "a long paper": ({"streamflow/src/stream/README.md": "word " * 1001}, "stream/README.md has 1001"),
    "a long decision": ({"docs/decisions/a.md": "line\n" * 41}, "a.md has 41 lines"),
}


def main():
    if "--self-test" in sys.argv:
        return self_test(GOOD, CASES, problems)
    if found := list(problems(ROOT)):
        sys.exit("\n".join(found))
    print("\n".join(f"{count:5} of {most} {unit}: {name}" for name, count, most, unit in counts(ROOT) if unit == "words"))


main()
