#!/usr/bin/env python3
"""Counts the lines of code of the library: without blank lines, comments, documentation and tests.

    .ci/lines.py             prints a table of rooms: the top modules of each crate
    .ci/lines.py DIRECTORY   the same of another checkout
    .ci/lines.py --self-test tests the counting on small sources

A line counts if a part of it is code. So does a line within a string, as one of a kernel's CUDA source. Tests are the
items under `#[cfg(test)]` or `#[cfg(all(test, …))]`, and the files of such modules. All crates that a program links
count, also those in `crates`, so that no code goes out of sight by moving to another one.
"""

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

# Write no cache files beside the sources.
sys.dont_write_bytecode = True
from rust_source import TEST, blank, item_end, test_files, without_texts

ROOT = Path(__file__).resolve().parent.parent
CRATES = ("streamflow", "streamflow-macros", "crates/*")

DOC = re.compile(r"#\s*!?\s*\[\s*doc\s*=[^\]]*\]")

def code(source):
    """The lines that are code."""
    text = without_texts(source, string='"')
    while found := TEST.search(text):
        text = blank(text, found.start(), item_end(text, found.end()))
    text = DOC.sub(lambda it: re.sub(r"\S", " ", it[0]), text)
    return [line for line in text.splitlines() if line.strip()]


def count(src):
    """For each room of a crate, its lines of code and its files."""
    sources = {path: path.read_text() for path in sorted(src.rglob("*.rs"))}
    code_of, files = Counter(), Counter()
    for path in sources.keys() - test_files(sources):
        room = path.relative_to(src).parts[0].removesuffix(".rs")
        code_of[room] += len(code(sources[path]))
        files[room] += 1
    return code_of, files


def report(root):
    """The table, line by line."""
    total, total_files = 0, 0
    yield f"{'room':<32}{'files':>6}{'code':>8}"
    sources = sorted(it for crate in CRATES for it in root.glob(f"{crate}/src"))
    for src in sources:
        lines, files = count(src)
        crate = src.parent.name
        for room, its in sorted(lines.items(), key=lambda it: (-it[1], it[0])):
            yield f"{crate + '::' + room:<32}{files[room]:>6}{its:>8}"
        yield f"{crate:<32}{files.total():>6}{lines.total():>8}"
        total, total_files = total + lines.total(), total_files + files.total()
    yield f"{'all':<32}{total_files:>6}{total:>8}"


# ---- the self-test -------------------------------------------------------------------------------

# Each source with the number of its lines of code.
CASES = {
    "": 0,
    "fn a() {}\n\n   \nfn b() {}\n": 2,
    "// a\n/// b\n//! c\nfn d() {} // e\n": 1,
    "/* a\n/* b */\nfn c() {}\n*/ fn d() {}\n": 1,
    "/* a */ fn b() {}\n/**\n * c\n */\nfn d() {}\n": 2,
    'const A: &str = "// b"; // c\nconst D: &str = "/*";\nfn e() {}\n': 3,
    'const A: &str = "\\" // b";\nconst C: char = \'"\'; // "\nfn d() {}\n': 3,
    'const A: &str = r#"\n// b "\n\n}\n"#;\n// c\n': 4,
    "fn a<'b>(c: &'b str) {} // '\nconst D: char = '\\''; // '\n": 2,
    '#![doc = "a"]\n#[doc = include_str!("b.md")]\nfn c() {}\n': 1,
    "fn a() {}\n#[cfg(test)]\nfn b() {\n}\nfn c() {}\n": 2,
    '#[cfg(test)]\nmod tests {\n    const A: &str = "}";\n    // }\n}\nfn b() {}\n': 1,
    '#[cfg(all(test, not(loom)))]\nuse a::{\n    b,\n};\n#[cfg(any(test, unix))]\nfn c() {}\n': 2,
    "struct A {\n    #[cfg(test)]\n    b: u8,\n    c: u8,\n}\n": 3,
}
# A crate with its rooms, of which each file has one line of code.
CRATE = {
    "lib.rs": "mod a; mod b; #[cfg(test)] mod tests;",
    "tests.rs": "fn a() {}",
    "tests/b.rs": "fn a() {}",
    "a.rs": '#[cfg(test)] #[path = "a/other.rs"] mod tests; mod tests_of_users;',
    "a/other.rs": "fn a() {}",
    "a/tests_of_users.rs": "fn a() {}",
    "b/mod.rs": '#[cfg(test)] mod tests; mod c; // #[cfg(test)] mod c;',
    "b/tests/mod.rs": "mod d;",
    "b/tests/d.rs": "fn a() {}",
    "b/c.rs": '#[cfg(all(test, not(loom)))]\n#[path = "c/tests/mod.rs"]\nmod tests;\nfn e() {}',
    "b/c/tests/mod.rs": "fn a() {}",
    "b/c/tests/f.rs": "fn a() {}",
    "d.rs": "fn a() {}\n#[cfg(test)]\nmod tests {\n    mod e;\n    fn g() {}\n}",
    "d/tests/e.rs": "fn a() {}",
    "e.rs": "#![cfg(test)]\nfn a() {}",
    "f.rs": "mod tests;",
    "f/tests.rs": "fn a() {}",
}
ROOMS = {"lib": 1, "a": 2, "b": 2, "d": 1, "f": 2}


def self_test():
    for source, expected in CASES.items():
        found = code(source)
        assert len(found) == expected, f"{source!r}: {expected} lines, and counted are {found}"
    with tempfile.TemporaryDirectory() as folder:
        for path, text in CRATE.items():
            path = Path(folder, "streamflow/src", path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found, files = count(Path(folder, "streamflow/src"))
        assert (found, files) == (ROOMS, ROOMS), f"{ROOMS}, and counted are {found} in {files}"
        assert list(report(Path(folder)))[-1].split() == ["all", "8", "8"]
    print(f"the self-test passed: {len(CASES)} sources and a crate")


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    root = Path(arguments[0]) if arguments else ROOT
    print("\n".join(report(root)))


main()
