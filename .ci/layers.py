#!/usr/bin/env python3
"""Checks that crates, modules and files use each other in one direction: there are no circles.

    .ci/layers.py              checks; prints every forbidden arrow with its places
    .ci/layers.py --write      writes the pictures of docs/layers.md
    .ci/layers.py --self-test  tests this check on small crates

It reads what cargo knows of the workspace and of the workspace of `bindings/python`: the packages, the packages that each
depends on, and the root file of each target, which names its modules. A module uses another one by a path: an import, a
path in the code, or `$crate::` in a macro. A name that a module re-exports counts as a use of the file that defines it.

In each target, the modules of one folder must not use each other in a circle, with all that is below them. Arrows between
a module and its own folder are left out: a parent names its children, and they name its items. Tests within a library
may use all modules, and so may its root with `prelude` and `__private`.

The modules of `streamflow` and of its driver have an order, too: those of the tables in
docs/layers.md. A module may use the modules of the rows above its own, and no module of its own row or below.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# Write no cache files beside the sources.
sys.dont_write_bytecode = True
from rust_source import Crate

ROOT = Path(__file__).resolve().parent.parent
# The crates with a table of layers, each with the first cell of its table.
TABLES = {"streamflow": "| Module |", "streamflow_driver": "| Module of the driver |"}
WORKSPACES = ("Cargo.toml", "bindings/python/Cargo.toml")
# The pictures are between these lines of docs/layers.md.
BEGIN, END = "<!-- Written by `.ci/layers.py --write`. -->\n", "<!-- The end of the pictures. -->\n"


def layers(page, header):
    """The modules of the table with this header, each with the number of its row."""
    rows, begun = {}, False
    for line in page.splitlines():
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

    def reached(self):
        """For each node that uses one, all that it reaches."""
        below, reached = defaultdict(set), {}
        for user, used in self.arrows:
            below[user].add(used)
        for node in list(below):
            reached[node], open_ = set(), [node]
            while open_:
                for next_ in below[open_.pop()] - reached[node]:
                    reached[node].add(next_)
                    open_.append(next_)
        return reached

    def circles(self):
        """The groups of nodes that all reach each other."""
        reached, circles = self.reached(), set()
        for node, nodes in reached.items():
            if node in nodes:
                circles.add(tuple(sorted(other for other in nodes if node in reached.get(other, ()))))
        return sorted(circles)

    def picture(self):
        """A Mermaid flowchart without the arrows that others imply. No node of it may be in a circle."""
        reached, nodes = self.reached(), sorted({node for arrow in self.arrows for node in arrow})
        yield "flowchart TB"
        for user in nodes:
            below = {used for node, used in self.arrows if node == user}
            implied = set().union(*(reached.get(used, ()) for used in below))
            # With the line, since `graph` and `end` are words of Mermaid.
            arrows = " & ".join(f"{used}_" for used in sorted(below - implied))
            yield f'    {user}_["{user}"]' + (f" --> {arrows}" if arrows else "")

    def within(self, circle):
        """The arrows of a circle, as text."""
        for (user, used), places in sorted(self.arrows.items()):
            if user in circle and used in circle:
                more = f"; and {len(places) - 3} more" if len(places) > 3 else ""
                yield f"    {user} → {used}: {'; '.join(places[:3])}{more}"


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
    """The arrows between the modules of each folder, by the path of the folder: that of the root is empty."""
    levels = defaultdict(Graph)
    for module, file in crate.files.items():
        if not module:
            continue
        short, seen = os.path.relpath(file.path, crate.root), set()
        for target, name, line, re_exports in uses(crate, file):
            if (name, line) in seen or not target.entered:
                continue
            seen.add((name, line))
            place = f"{short}:{line} ({name})"
            levels[()].add(module[0], target.entered, place)
            other = target.file.module
            folder = os.path.commonprefix([module, other])
            if not re_exports and folder and len(folder) < min(len(module), len(other)):
                levels[folder].add(module[len(folder)], other[len(folder)], place)
    return levels


def problems(crate, page=None):
    """The problems of a crate. Its layers are checked if `page` is given."""
    levels = read(crate)
    if page is not None:
        rows, top = layers(page, TABLES[crate.name]), crate.top()
        yield from (f"`{name}` is in no row of the table in docs/layers.md" for name in sorted(top - set(rows)))
        yield from (f"the table in docs/layers.md has `{name}`, which is not a module" for name in sorted(set(rows) - top))
        for (user, used), places in sorted(levels[()].arrows.items()):
            if user in rows and used in rows and rows[used] >= rows[user]:
                yield f"{user} → {used}, which is not above it in the table in docs/layers.md:"
                yield from (f"    {place}" for place in places)
    for folder, graph in sorted(levels.items()):
        for circle in graph.circles():
            yield f"a circle in {'::'.join(folder) or 'the root'}: {', '.join(circle)}"
            yield from graph.within(circle)


def packages():
    for manifest in WORKSPACES:
        command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--manifest-path", ROOT / manifest]
        yield from json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["packages"]


def between(packages):
    """Which package depends on which other one, of those in this repository."""
    graph = Graph()
    for package in packages:
        for it in package["dependencies"]:
            if it.get("path"):
                graph.add(package["name"], it["name"], f"Cargo.toml ({it['kind'] or 'normal'})")
    return graph


def with_pictures(page, pictures):
    """The text with these pictures: pairs of a title and a graph."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"docs/layers.md needs these two lines, with the pictures between them:\n{BEGIN}{END}")
    blocks = ("\n".join((f"\n{title}:\n", "```mermaid", *graph.picture(), "```\n")) for title, graph in pictures)
    return f"{before}{BEGIN}{''.join(blocks)}\n{END}{after}"


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
    "circle": ({"low/a.rs": "pub struct A; fn f() { crate::mid::f() }"}, "a circle in the root: low, mid"),
    "circle of files": ({"low/a.rs": "pub struct A; use super::b::B;"}, "a circle in low: a, b"),
    "circle by the parent": ({"low/a.rs": "pub struct A; use super::B;"}, "a circle in low: a, b"),
    "circle of folders": (
        {
            "low/a.rs": "pub mod one; mod two; pub struct A;",
            "low/b.rs": "mod one; pub mod two; pub struct B(super::a::A);",
            "low/a/one.rs": "",
            "low/a/two.rs": "use crate::low::b::two::f;",
            "low/b/one.rs": "use crate::low::a::one::f;",
            "low/b/two.rs": "pub fn f() {}",
        },
        "a circle in low: a, b",
    ),
    "circle by a path to a file": (
        {"low/a.rs": "pub struct A; #[path = \"../far.rs\"] mod far;", "far.rs": "use crate::low::b::B;"},
        "a circle in low: a, b",
    ),
    "model": ({"low/a.rs": "pub struct A; #[cfg(loom)] use super::b::B;"}, None),
    "module of a macro": ({"low/a.rs": "pub struct A; macro_rules! m { ($m:ident) => { mod $m { use super::*; fn b() {} } } }"}, None),
    "another crate": ({"low/a.rs": "pub struct A; use other::mid::Mid;"}, None),
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
            report = "\n".join(problems(Crate(Path(folder, "lib.rs")), TABLE))
        is_right = expected in report if expected else not report
        assert is_right, f"{name}: expected {expected!r}, but the check reports {report!r}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "program.rs")
        root.write_text("mod one; mod two;")
        Path(folder, "one.rs").write_text("use crate::two::f; use streamflow::two::f;")
        Path(folder, "two.rs").write_text("use streamflow::one::f;")
        assert not list(problems(Crate(root, None))), "a program is no library of that name"
    depends = {"a": "b", "b": "c", "c": "a"}
    known = [{"name": it, "dependencies": [{"name": on, "path": "/", "kind": "dev"}]} for it, on in depends.items()]
    assert between(known).circles() == [("a", "b", "c")]
    graph = Graph()
    for user, used in (("a", "b"), ("b", "c"), ("a", "c"), ("a", "d")):
        graph.add(user, used, "")
    drawn = with_pictures(f"Before.\n{BEGIN}old\n{END}After.\n", [("Title", graph)])
    lines = ["flowchart TB", '    a_["a"] --> b_ & d_', '    b_["b"] --> c_', '    c_["c"]', '    d_["d"]']
    expected = "\n".join(("", "Title:", "", "```mermaid", *lines, "```", "\n"))
    assert drawn == f"Before.\n{BEGIN}{expected}{END}After.\n", drawn
    print(f"the self-test passed: {len(CASES)} small crates, and pictures")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    home, found, files, known = ROOT / "docs/layers.md", [], 0, list(packages())
    page, crates = home.read_text(), between(known)
    pictures = [("Packages", crates)]
    for circle in crates.circles():
        found += [f"a circle of packages: {', '.join(circle)}", *crates.within(circle)]
    for package in known:
        for target in package["targets"]:
            root, name = Path(target["src_path"]), target["name"].replace("-", "_")
            crate = Crate(root, name if {"lib", "rlib", "proc-macro"} & set(target["kind"]) else None)
            if wrong := list(problems(crate, page if crate.name in TABLES else None)):
                found += [f"{root.relative_to(ROOT)}:", *wrong]
            files += len(crate.files)
            is_for_users = root.relative_to(ROOT).parts[0] not in ("tests", "examples")
            if is_for_users and root.name == "lib.rs" and (graph := read(crate)[()]).arrows:
                pictures.append((f"The modules of `{package['name']}`", graph))
    if found:
        sys.exit("\n".join(found))
    drawn = with_pictures(page, pictures)
    if "--write" in sys.argv:
        home.write_text(drawn)
    elif drawn != page:
        sys.exit("the pictures of docs/layers.md are not those of the code; run .ci/layers.py --write, and read what changes")
    print(f"the layers hold: {len(known)} packages, {files} files, no arrow up, no circle")


main()
