#!/usr/bin/env python3
"""Checks that each law has one home in the sources, one chapter in the guide and one row in docs/promises.md, all
with the same title.

    .ci/laws.py              checks
    .ci/laws.py --self-test  tests this check on small trees

A law's home is the file that begins with `//! Law n: Title.`.
"""

import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("streamflow/src", "streamflow-macros/src", "crates/streamflow-driver/src")
GUIDE = "streamflow/src/guide"
PROMISES = "docs/promises.md"

# The number of laws, and the laws whose code comes with a later change. That change removes its entry.
LAWS = 17
NOT_YET = {}


def homes(root):
    """For each law, its homes: the title, and the path below `src`."""
    found = defaultdict(list)
    for source in SOURCES:
        for path in sorted((root / source).rglob("*.rs")):
            first = path.read_text().split("\n", 1)[0]
            if law := re.fullmatch(r"//! Law (\d+): (.+)\.", first):
                found[int(law[1])].append((law[2], str(path.relative_to(root / source))))
            elif re.match(r"//!? ?Law \d", first):
                yield None, f"{path.relative_to(root)} begins with {first!r}, and not with `//! Law n: Title.`"
    yield from found.items()


def rows(text, pattern):
    """For each law, its rows of a table."""
    found = defaultdict(list)
    for number, *rest in re.findall(pattern, text, re.M):
        found[int(number)].append(rest)
    return found


def problems(root, laws=LAWS, not_yet=NOT_YET):
    """The problems, one line each."""
    known = {}
    for law, found in homes(root):
        if law is None:
            yield found
        elif not 1 <= law <= laws:
            yield f"law {law} has a home, {found[0][1]}, but there are {laws} laws"
        elif law in not_yet:
            yield f"law {law} has a home, {found[0][1]}: remove it from NOT_YET in .ci/laws.py"
        elif len(found) > 1:
            yield f"law {law} has more than one home: {', '.join(path for _, path in found)}"
        else:
            known[law] = found[0]
    for law in range(1, laws + 1):
        if law not in known and law not in not_yet:
            yield f"law {law} must have exactly one home: one file that begins with `//! Law {law}: Title.`"

    index = rows((root / GUIDE / "mod.rs").read_text(), r"^//! \| \[(\d+)\. (.+)\]\((\w+)\) \|")
    promises = rows((root / PROMISES).read_text(), r"^\| (\d+): ([^|]+?) \| `([^`|]+)` \|")
    for law, (title, home) in sorted(known.items()):
        if [row[0] for row in index[law]] != [title]:
            yield f"law {law} is {title!r} in {home}, but {index[law] or 'nothing'} in the guide's table"
        for _, chapter in index[law]:
            path = root / GUIDE / f"{chapter}.md"
            heading = path.read_text().split("\n", 1)[0] if path.exists() else "no file"
            if heading != f"# {law}. {title}":
                yield f"law {law} is {title!r} in {home}, but {GUIDE}/{chapter}.md begins with {heading!r}"
        if promises[law] != [[title, home]]:
            yield f"law {law} is {title!r} in {home}, but {promises[law] or 'nothing'} in the table of promises"
    for what, table in (("the guide's table", index), ("the table of promises", promises)):
        yield from (f"{what} has a law {law}, which has no home" for law in sorted(table) if table[law] and law not in known)


# ---- the self-test -------------------------------------------------------------------------------

GOOD = {
    "streamflow/src/a.rs": "//! Law 1: First.\n//!\n//! Text.\n",
    "streamflow/src/b/mod.rs": "//! Law 2: The second.\n",
    "streamflow/src/c.rs": "//! Mentions law 1, and is not its home.\n",
    "streamflow-macros/src/lib.rs": "//! Macros.\n",
    f"{GUIDE}/mod.rs": "//! | [1. First](one) | the run |\n//! | [2. The second](two) | the run |\n",
    f"{GUIDE}/one.md": "# 1. First\n",
    f"{GUIDE}/two.md": "# 2. The second\n",
    PROMISES: "| 1: First | `a.rs` | – | – |\n| 2: The second | `b/mod.rs` | – | – |\n",
}
# The files that a case changes, and the problem that the check must report, or None.
CASES = {
    "good": ({}, None),
    "no home": ({"streamflow/src/a.rs": "//! Text.\n"}, "law 1 must have exactly one home"),
    "two homes": ({"streamflow-macros/src/lib.rs": "//! Law 1: First.\n"}, "law 1 has more than one home"),
    "not at the beginning": ({"streamflow/src/a.rs": "//! Text.\n//! Law 1: First.\n"}, "law 1 must have exactly one home"),
    "another form": ({"streamflow/src/c.rs": "//! Law 1, First\n"}, "c.rs begins with"),
    "not yet": ({"streamflow/src/c.rs": "//! Law 3: Third.\n"}, "remove it from NOT_YET"),
    "no such law": ({"streamflow/src/c.rs": "//! Law 4: Fourth.\n"}, "there are 3 laws"),
    "another title": ({"streamflow/src/a.rs": "//! Law 1: Else.\n"}, "'Else'"),
    "another title in the guide": ({f"{GUIDE}/one.md": "# 1. Else\n"}, "one.md begins with '# 1. Else'"),
    "no chapter": ({f"{GUIDE}/mod.rs": "//! | [1. First](one) | – |\n"}, "nothing in the guide's table"),
    "no file of the chapter": ({f"{GUIDE}/mod.rs": GOOD[f"{GUIDE}/mod.rs"].replace("(two)", "(three)")}, "'no file'"),
    "no row": ({PROMISES: "| 1: First | `a.rs` | – | – |\n"}, "nothing in the table of promises"),
    "two rows": ({PROMISES: GOOD[PROMISES] + "| 1: First | `a.rs` | – | – |\n"}, "law 1 is 'First' in a.rs"),
    "another home in the row": ({PROMISES: GOOD[PROMISES].replace("a.rs", "c.rs")}, "'c.rs'"),
    "a row too many": ({PROMISES: GOOD[PROMISES] + "| 3: Third | `c.rs` | – | – |\n"}, "has a law 3"),
}


def self_test():
    for name, (changed, expected) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            for path, text in (GOOD | changed).items():
                path = Path(folder, path)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            report = "\n".join(problems(Path(folder), laws=3, not_yet={3: "a later change"}))
        is_right = expected in report if expected else not report
        assert is_right, f"{name}: expected {expected!r}, but the check reports {report!r}"
    print(f"the self-test passed: {len(CASES)} small trees")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    if found := list(problems(ROOT)):
        sys.exit("\n".join(found))
    waiting = "; ".join(f"{law}: {name}" for law, name in NOT_YET.items())
    print(f"{LAWS - len(NOT_YET)} laws have one home each" + (f"; not yet: {waiting}" if waiting else ""))


main()
