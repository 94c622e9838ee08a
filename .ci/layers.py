#!/usr/bin/env python3
"""Checks that the layers are those of CONTRIBUTING.md, and that there are no circles. Each crate has a table of its own.

    .ci/layers.py              checks; prints every forbidden arrow with its places
    .ci/layers.py --graph      prints which module uses which, as a Mermaid flowchart
    .ci/layers.py --self-test  tests this check on small crates

A module is a row of the table in "The map of the house". It may use the modules of the rows above its own, and no
module of its own row or below. `lib.rs` (with `prelude` and `__private`) and tests may use all modules. The check reads
every path into another module: imports, paths in the code, and `$crate::` in macros.

Of the other crates, modules and files have no circles; Cargo keeps the crates themselves apart.

Within a module, two files must not use each other. Arrows between a file and its own folder are left out: a parent
names its children, and they name its items. A name that the parent re-exports counts as a use of the file that defines
it.
"""

import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# Write no cache files beside the sources.
sys.dont_write_bytecode = True
from rust_source import Crate

ROOT = Path(__file__).resolve().parent.parent


# The first cells of the tables.
LIBRARY, DRIVER = "| Module |", "| Module of the driver |"


def layers(contributing, header):
    """The modules of the table with this header, each with the number of its row."""
    rows, begun = {}, False
    for line in contributing.splitlines():
        if line.startswith(header):
            begun = True
        elif begun and not line.startswith("|"):
            break
        elif begun and not line.startswith("|--"):
            row = 1 + max(rows.values(), default=0)
            rows.update((name, row) for name in re.findall(r"`(\w+)`", line.split("|")[1]))
    return rows


class Graph:
    """Which node uses which, with the places of each use: `path:line (name)`."""

    def __init__(self):
        self.arrows = defaultdict(list)

    def add(self, user, used, place):
        if user != used:
            self.arrows[user, used].append(place)

    def circles(self):
        """The groups of nodes that all reach each other."""
        below = defaultdict(set)
        for user, used in self.arrows:
            below[user].add(used)
        reached = {}
        for node in list(below):
            reached[node], open_ = set(), [node]
            while open_:
                for next_ in below[open_.pop()] - reached[node]:
                    reached[node].add(next_)
                    open_.append(next_)
        circles = set()
        for node, nodes in reached.items():
            if node in nodes:
                circles.add(tuple(sorted(other for other in nodes if node in reached.get(other, ()))))
        return sorted(circles)

    def within(self, circle):
        """The arrows of a circle, as text."""
        for (user, used), places in sorted(self.arrows.items()):
            if user in circle and used in circle:
                yield f"    {user} → {used}: {'; '.join(places)}"


def uses(crate, file):
    """The uses of a file: the target, the name, the line, and whether the file only re-exports the name."""
    for it in file.imports:
        if it.name == "*":
            module = crate.resolve(file, it.path[:-1])
            if not (module and module.is_module):
                continue
            yield module, "::".join(it.path), file.line(it.at), True
            for name in sorted(file.words) if not it.public else []:
                # A name that the module does not have resolves to the module itself.
                target = crate.resolve(file, it.path[:-1] + (name,))
                if target and (target.file is not module.file or name in module.file.defined):
                    yield target, "::".join(it.path[:-1] + (name,)), file.line(it.at), False
        elif target := crate.resolve(file, it.path):
            re_exports = it.public and it.name not in file.words
            yield target, "::".join(it.path), file.line(it.at), re_exports or target.is_module
    for path, at in file.paths():
        if target := crate.resolve(file, path):
            yield target, "::".join(path), file.line(at), False


def read(crate):
    """The arrows between the modules of the root, and the arrows between the files of each module."""
    modules, files = Graph(), Graph()
    for module, file in crate.files.items():
        if not module:
            continue
        short = file.path.relative_to(crate.root)
        seen = set()
        for target, name, line, re_exports in uses(crate, file):
            if (name, line) in seen or not target.entered:
                continue
            seen.add((name, line))
            modules.add(module[0], target.entered, f"{short}:{line} ({name})")
            above, below = sorted((module, target.file.module), key=len)
            if not re_exports and below[:1] == module[:1] == above[:1] and below[: len(above)] != above:
                files.add(str(short), str(target.file.path.relative_to(crate.root)), f"line {line} ({name})")
    return modules, files


def problems(crate, contributing=None, header=LIBRARY):
    """The problems of a crate. Its layers are checked if `contributing` is given."""
    modules, files = read(crate)
    if contributing is not None:
        rows, top = layers(contributing, header), crate.top()
        yield from (f"`{name}` is in no row of CONTRIBUTING.md's table" for name in sorted(top - set(rows)))
        yield from (f"CONTRIBUTING.md's table has `{name}`, which is not a module" for name in sorted(set(rows) - top))
        for (user, used), places in sorted(modules.arrows.items()):
            if user in rows and used in rows and rows[used] >= rows[user]:
                yield f"{user} → {used}, which is not above it in CONTRIBUTING.md's table:"
                yield from (f"    {place}" for place in places)
    for what, graph in (("modules", modules), ("files", files)):
        for circle in graph.circles():
            yield f"a circle of {what}: {', '.join(circle)}"
            yield from graph.within(circle)


def mermaid(crate):
    """The arrows between modules, with the number of uses."""
    yield "flowchart BT"
    for (user, used), places in sorted(read(crate)[0].arrows.items()):
        yield f"    {user} -->|{len(places)}| {used}"


# ---- the self-test -------------------------------------------------------------------------------

TABLE = "| Module | What it owns |\n|---|---|\n| `low` | – |\n| `mid` | – |\n| `high` | – |\n\nText.\n"
GOOD = {
    "lib.rs": "mod low; mod mid; mod high; pub use high::High; pub use low::{Low, a::A};",
    "low/mod.rs": "pub mod a; mod b; pub use b::B; pub struct Low;",
    "low/a.rs": "pub struct A;",
    "low/b.rs": "use super::a::A; pub struct B(A);",
    "mid.rs": "use crate::low::Low; pub struct Mid(Low); pub(in crate::mid) fn only_here() {}",
    "high.rs": "use crate::{mid::Mid, low::{self, Low}}; pub struct High(Mid, Low, low::B);",
}
# The files that a case changes, and the problem that the check must report, or None.
CASES = {
    "good": ({}, None),
    "upward": ({"mid.rs": "use crate::high::High;"}, "mid → high"),
    "line": ({"mid.rs": "\n\nfn f() { crate::high::f() }"}, "mid.rs:3"),
    "nested": ({"mid.rs": "use crate::{low::{a::A, Low}, high::{High as H}};"}, "(crate::high::High)"),
    "re-export": ({"mid.rs": "use crate::{Low, High};"}, "(crate::High)"),
    "re-export from below": ({"mid.rs": "use crate::{Low, A};"}, None),
    "super": ({"low/b.rs": "use super::super::mid::Mid; pub struct B;"}, "low → mid"),
    "imported module": ({"lib.rs": "pub mod low; pub mod mid; pub mod high;", "mid.rs": "use crate::high; fn f() { high::f() }"}, "mid → high"),
    "macro": ({"low/a.rs": "pub struct A; macro_rules! m { () => { $crate::mid::f() } }"}, "low → mid"),
    "own name of the crate": ({"low/a.rs": "pub struct A; fn f(_: ::streamflow::High) {}"}, "low → high"),
    "glob": ({"mid.rs": "use crate::high::*;"}, "mid → high"),
    "attribute": ({"mid.rs": "#[cfg(not(test))] use crate::high::High;"}, "mid → high"),
    "inline module": ({"mid.rs": "mod inner { use super::super::high::High; }"}, "mid → high"),
    "test": ({"mid.rs": "#[cfg(test)] mod tests { use crate::High; } #[cfg(test)] use crate::high::High;"}, None),
    "field of a test": ({"mid.rs": "struct A { #[cfg(test)] high: crate::High, } fn f() {}"}, None),
    "after a field of a test": ({"mid.rs": "struct A { #[cfg(test)] a: u8, high: crate::High } fn f() {}"}, "mid → high"),
    "after a test": ({"mid.rs": "#[cfg(test)] fn f<A, B>(_: A, _: B) -> crate::High {} use crate::high::High;"}, "mid → high"),
    "only in a test": ({"mid.rs": "#[cfg(test)] #[inline] pub(crate) fn f<A, B>(_: A, _: B) -> crate::High { crate::High }"}, None),
    "test file": ({"mid.rs": "#[cfg(test)]\nmod probe;", "mid/probe.rs": "use crate::High;"}, None),
    "comment": ({"mid.rs": "//! [`High`](crate::High)\n/* crate::High /* */ crate::high */ // crate::High"}, None),
    "string": ({"mid.rs": "const A: (&str, &str, char) = (\"crate::High \\\" crate::High\", r#\"crate::High\"#, '\"');"}, None),
    "visibility": ({"low/a.rs": "pub(in crate::high) struct A;"}, None),
    "not in the table": ({"lib.rs": "mod low; mod mid; mod high; mod new;", "new.rs": ""}, "`new` is in no row"),
    "not in the crate": ({"lib.rs": "mod low; mod mid;"}, "has `high`, which is not a module"),
    "circle": ({"low/a.rs": "pub struct A; fn f() { crate::mid::f() }"}, "a circle of modules: low, mid"),
    "circle of files": ({"low/a.rs": "pub struct A; use super::b::B;"}, "a circle of files: low/a.rs, low/b.rs"),
    "circle by the parent": ({"low/a.rs": "pub struct A; use super::B;"}, "a circle of files: low/a.rs, low/b.rs"),
    "with the parent": ({"low/a.rs": "pub struct A; use super::Low;", "low/mod.rs": "pub mod a; mod b; pub use b::B; pub struct Low(a::A);"}, None),
    "child of the parent": ({"low/a.rs": "pub struct A; use super::Low;"}, None),
}


def self_test():
    for name, (changed, expected) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            for path, source in (GOOD | changed).items():
                path = Path(folder, path)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(source)
            report = "\n".join(problems(Crate(folder), TABLE))
        is_right = expected in report if expected else not report
        assert is_right, f"{name}: expected {expected!r}, but the check reports {report!r}"
    print(f"the self-test passed: {len(CASES)} small crates")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    library, macros = Crate(ROOT / "streamflow/src"), Crate(ROOT / "streamflow-macros/src")
    driver = Crate(ROOT / "crates/streamflow-driver/src")
    if "--graph" in sys.argv:
        return print("\n".join([*mermaid(driver), *mermaid(library)]))
    others = [Crate(src, src.parent.name.replace("-", "_")) for src in sorted(ROOT.glob("crates/*/src"))]
    others = [crate for crate in others if crate.root != driver.root]
    found = []
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    tables = [(library, contributing, LIBRARY), (driver, contributing, DRIVER), *((crate, None, "") for crate in (macros, *others))]
    for crate, table, header in tables:
        if wrong := list(problems(crate, table, header)):
            found += [f"{crate.root.relative_to(ROOT)}:", *wrong]
    if found:
        sys.exit("\n".join(found))
    files = sum(len(crate.files) for crate, _, _ in tables)
    print(f"the layers hold: {files} files, no arrow up, no circle")


main()
