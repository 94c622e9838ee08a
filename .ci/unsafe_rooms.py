#!/usr/bin/env python3
"""Checks that `unsafe` is where the table in docs/unsafe.md says.

    .ci/unsafe_rooms.py              checks
    .ci/unsafe_rooms.py --self-test  tests this check on small trees

A row of the table has a purpose, names and a reason. A name with `::`, or one word, is a module of a library crate, and
means its file alone, without the files below it. In `streamflow` it begins at the crate's root, and in another crate with the
name of that crate. A name with `/` is a file or a folder outside of the library crates, and a folder means all its files.
Names in braces share what is before the braces.

The check reads `unsafe` blocks, `unsafe impl`, `unsafe extern` and `unsafe` attributes. Each file that has one is in one
row, and each name has one. Tests of a library crate, which are the modules under `#[cfg(test)]`, need no row.
"""

import re
import subprocess
import sys
from pathlib import Path

# Write no cache files beside the sources.
sys.dont_write_bytecode = True
from rust_source import test_files, without_tests, without_texts

ROOT = Path(__file__).resolve().parent.parent
HEADER = "| Room of `unsafe` |"
UNSAFE = re.compile(r"\bunsafe\s*(?:\{|impl\b|extern\b)|#\s*!?\s*\[\s*unsafe\b")


def expanded(name):
    """The names that one with braces stands for: `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`."""
    begin = name.find("{")
    if begin < 0:
        return [name.strip()]
    depth, parts, at = 0, [""], begin
    for at in range(begin, len(name)):
        sign = name[at]
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            break
        if sign == "," and depth == 1:
            parts.append("")
        elif (depth, sign) != (1, "{"):
            parts[-1] += sign
    before, after = name[:begin].strip(), name[at + 1 :]
    return [name for part in parts for name in expanded(before + part.strip() + after)]


def rooms(page):
    """The rows of the table: the purpose, the names and the reason."""
    begun = False
    for line in page.splitlines():
        if line.startswith(HEADER):
            begun = True
        elif begun and not line.startswith("|"):
            break
        elif begun and not line.startswith("|--"):
            purpose, names, reason = (cell.strip() for cell in line.strip("|").split("|"))
            yield purpose, [one for name in re.findall(r"`([^`]+)`", names) for one in expanded(name)], reason


def module(path):
    """The module that a file of a library crate is, with the name of its crate unless that is `streamflow`; else `None`."""
    found = re.fullmatch(r"(?:crates/)?(streamflow[\w-]*)/src/(.+)\.rs", path)
    if not found:
        return None
    crate, parts = found[1].replace("-", "_"), found[2].split("/")
    if parts[-1] in ("mod", "lib"):
        parts.pop()
    return "::".join(([] if crate == "streamflow" else [crate]) + parts)


def problems(page, sources):
    """The problems, one line each. `sources` has the text of each Rust file by its path."""
    known = {}
    for purpose, names, reason in rooms(page):
        if not reason or not names:
            yield f"the room {purpose!r} has no name or no reason"
        for name in names:
            if name in known:
                yield f"`{name}` is in two rooms: {known[name]!r} and {purpose!r}"
            known[name] = purpose
    if not known:
        yield f"docs/unsafe.md has no table that begins with {HEADER!r}"
    used, tests = set(), test_files(sources)
    for path, text in sorted(sources.items()):
        if not UNSAFE.search(without_tests(without_texts(text))[0]):
            continue
        if name := module(path):
            found = {name} if name in known else set()
        else:
            found = {it for it in known if "/" in it and (path == it or path.startswith(it.rstrip("/") + "/"))}
        if not found and not (name and path in tests):
            yield f"{path} has `unsafe` and is in no room: make a safe call of a module that is, or give `{name or path}` a row"
        used |= found
    yield from (f"`{name}` is in the room {known[name]!r} and has no `unsafe`" for name in sorted(set(known) - used))


# ---- the self-test -------------------------------------------------------------------------------

TABLE = f"""{HEADER} Names | Why |
|---|---|---|
| queues | `a::ring`, `a::b::{{c, d::{{e, f}}}}` | slots |
| CUDA | `streamflow_driver::cuda` | C |
| tools | `tests/tools`, `examples/race.rs` | tests |

`unsafe` is elsewhere, too.
"""
BLOCK = "fn f() { unsafe { g() } }\n"
GOOD = {
    "streamflow/src/a/ring.rs": "unsafe impl Sync for A {}\n",
    "streamflow/src/a/b/c.rs": BLOCK,
    "streamflow/src/a/b/d/e.rs": BLOCK,
    "streamflow/src/a/b/d/f/mod.rs": "#[unsafe(no_mangle)] fn f() {}\n",
    "streamflow/src/a/b/d/mod.rs": "#[cfg(test)] mod tests;",
    "streamflow/src/a/b/d/tests.rs": BLOCK,
    "streamflow/src/a/b/d/tests/more.rs": BLOCK,
    "streamflow/src/lib.rs": "// unsafe { }\nconst A: &str = \"unsafe { }\";\nunsafe fn f() {}\n#[cfg(test)]\nmod t { fn f() { unsafe { g() } } }\n",
    "crates/streamflow-driver/src/cuda/mod.rs": "unsafe extern \"C\" {}\n",
    "tests/tools/src/a.rs": BLOCK,
    "examples/race.rs": BLOCK,
}
# The files that a case changes, the change of the table, and the problem that the check must report, or None.
CASES = {
    "good": ({}, ("", ""), None),
    "a file in no room": ({"streamflow/src/a/mod.rs": BLOCK}, ("", ""), "streamflow/src/a/mod.rs has `unsafe` and is in no room"),
    "a file below a module of a room": ({"streamflow/src/a/ring/ends.rs": BLOCK}, ("", ""), "give `a::ring::ends` a row"),
    "another crate": ({"crates/streamflow-math/src/cuda.rs": BLOCK}, ("", ""), "give `streamflow_math::cuda` a row"),
    "outside of the library": ({"examples/other.rs": BLOCK}, ("", ""), "examples/other.rs has `unsafe`"),
    "a folder with such a beginning": ({"tests/tools2/a.rs": BLOCK}, ("", ""), "tests/tools2/a.rs has `unsafe`"),
    "tests outside of the library": ({"tests/tests/a.rs": BLOCK}, ("", ""), "tests/tests/a.rs has `unsafe`"),
    "a file with the name of tests": ({"streamflow/src/a/b/tests.rs": BLOCK}, ("", ""), "give `a::b::tests` a row"),
    "a folder with the name of tests": ({"streamflow/src/a/tests/b.rs": BLOCK}, ("", ""), "give `a::tests::b` a row"),
    "tests by another name": (
        {"streamflow/src/a/b/mod.rs": '#[cfg(all(test, unix))] #[path = "proofs.rs"] mod tests;', "streamflow/src/a/b/proofs.rs": BLOCK},
        ("", ""),
        None,
    ),
    "an unsafe impl": ({"streamflow/src/x.rs": "unsafe\nimpl A for B {}\n"}, ("", ""), "give `x` a row"),
    "an attribute": ({"streamflow/src/x.rs": "#![unsafe(no_mangle)]\n"}, ("", ""), "give `x` a row"),
    "a name without unsafe": ({"streamflow/src/a/ring.rs": "fn f() {}\n"}, ("", ""), "`a::ring` is in the room 'queues' and has no"),
    "a name without a file": ({}, ("`a::ring`", "`a::ring`, `a::list`"), "`a::list` is in the room 'queues' and has no"),
    "a name twice": ({}, ("`tests/tools`", "`tests/tools`, `a::b::c`"), "`a::b::c` is in two rooms: 'queues' and 'tools'"),
    "no reason": ({}, ("| slots |", "| |"), "the room 'queues' has no name or no reason"),
    "no table": ({}, (HEADER, "| Something |"), "docs/unsafe.md has no table"),
}


def self_test():
    for name, (changed, (old, new), expected) in CASES.items():
        report = "\n".join(problems(TABLE.replace(old, new), GOOD | changed))
        is_right = expected in report if expected else not report
        assert is_right, f"{name}: expected {expected!r}, but the check reports {report!r}"
    print(f"the self-test passed: {len(CASES)} small trees")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.rs"]
    paths = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    sources = {path: (ROOT / path).read_text() for path in paths if path and (ROOT / path).exists()}
    page = (ROOT / "docs/unsafe.md").read_text()
    if found := list(problems(page, sources)):
        sys.exit("\n".join(found))
    table = list(rooms(page))
    print(f"`unsafe` is in {len(table)} rooms of {sum(len(names) for _, names, _ in table)} names")


main()
