#!/usr/bin/env python3
"""Counts what users see of `streamflow`, by rustdoc's JSON, and checks the bounds below.

    .ci/items.py              has rustdoc write the JSON, and checks
    .ci/items.py --list       prints the items of each module, too
    .ci/items.py --self-test  tests this check on small crates

A visible item is a struct, an enum, a union, a trait, an alias of a type or a function that the documentation shows, also
one of another crate that `streamflow` re-exports. An item has one public path. The prelude has second ones, for
`use streamflow::prelude::*` alone. An item that the documentation hides is for the code of the macros: no path leads to it but
those of `streamflow::__private`, so rustc refuses an expansion that names it by another. Two items whose names in the namespace of types are the same are not told apart.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATE = "streamflow"
# The one module of hidden items.
PRIVATE = f"{CRATE}::__private::"
# rustdoc of the pinned compiler writes this format.
FORMAT = 57

# The bounds. How many items are visible without the features that are off by default, and how many each of them adds. These
# are in no program that does not choose them.
BY_DEFAULT = 194
ADDED = {
    "cudarc": 2,  # what the two loans return: `CudarcStream`, `LentSlice`
    "dlpack": 7,
    "futures": 5,  # two operators, their ends, and the bound of both
    "half": 0,  # `f16` and `bf16` are there without it, too
    "image": 1,  # `HostArray`
    "ndarray": 0,  # the same trait
}
FEATURES = ",".join(ADDED)
VISIBLE = BY_DEFAULT + sum(ADDED.values())
TWO_PATHS = 0
# Crates that are re-exported as a whole, with the reason.
WHOLE = {f"{CRATE}::cudarc": "the types of its border are those of one version, which a program names by this path"}
# Names of two types, with the reason for which both stay.
SAME_NAME = {
    "Download": "the message, and the operator that sends it: both are the field's words",
    "Window": "the argument of a stencil, and the operator that multiplies by a window of signal processing: both are the field's words",
}

# Hidden items outside of `PRIVATE`, with the reason.
STRAYS = {
    f"{CRATE}::testing::{name}": "a part of an error, which shows it as text"
    for name in ("BodyDifference", "BodyFailure", "BodyProblem", "Exploration", "Failing", "KernelBody", "Limit", "Stopped")
}

COUNTED = {"struct", "enum", "union", "trait", "type_alias", "function"}
TYPES = COUNTED - {"function"}


def is_hidden(item):
    return any("doc(hidden)" in json.dumps(attribute) for attribute in item.get("attrs", ()))


def hidden_by_uses(index):
    """The items that a hidden re-export names: rustdoc hides each re-export that goes through it, and it may be any of them but
    those of `PRIVATE`, through which none goes."""
    last = PRIVATE.rstrip(":").rpartition("::")[2]
    private = [item for item in index.values() if item["name"] == last and "module" in item["inner"]]
    ends = {child for module in private for child in module["inner"]["module"]["items"]}
    uses = (item for item in index.values() if "use" in item["inner"] and is_hidden(item) and item["id"] not in ends)
    return frozenset(item["inner"]["use"]["id"] for item in uses)


class Api:
    """The items of a crate: for each that the documentation shows its kind, its name and its public paths, and for each public
    path that it hides whether it is one of `PRIVATE`."""

    def __init__(self, doc):
        self.index, self.paths = doc["index"], doc["paths"]
        self.items, self.hidden, self.globs = defaultdict(list), defaultdict(list), []
        self.hidden_by_uses = hidden_by_uses(self.index)
        self._module(doc["root"], [CRATE], frozenset(), False)

    def _module(self, module, path, above, hidden):
        for child in self.index[str(module)]["inner"]["module"]["items"]:
            item = self.index.get(str(child))
            if item and item["visibility"] == "public":
                self._item(item, path, above, hidden)

    def _item(self, item, path, above, hidden):
        kind, inner = next(iter(item["inner"].items()))
        hidden = hidden or is_hidden(item) or (kind == "use" and inner["id"] in self.hidden_by_uses)
        items = self.hidden if hidden else self.items
        if kind == "module":
            if item["id"] not in above:
                self._module(item["id"], [*path, item["name"]], above | {item["id"]}, hidden)
        elif kind != "use":
            items[item["id"], kind].append("::".join([*path, item["name"]]))
        elif target := self.index.get(str(inner["id"])):
            is_module = "module" in target["inner"]
            if is_module and target["id"] not in above:
                below = path if inner["is_glob"] else [*path, inner["name"]]
                self._module(target["id"], below, above | {target["id"]}, hidden or is_hidden(target))
            elif not is_module:
                self._item(target | {"name": inner["name"]}, path, above, hidden)
        elif inner["is_glob"] or self.paths.get(str(inner["id"]), {}).get("kind") == "module":
            if not hidden:
                self.globs.append("::".join([*path, inner["source"]]))
        else:
            # An item of another crate.
            kind = self.paths.get(str(inner["id"]), {"kind": "macro"})["kind"]
            items[inner["id"], kind].append("::".join([*path, inner["name"]]))

    def visible(self):
        """The visible items, each as its kind, its name and its paths, without those of the prelude."""
        for (_, kind), paths in self.items.items():
            outside = sorted(path for path in paths if not path.startswith(f"{CRATE}::prelude::"))
            if kind in COUNTED:
                shown = outside or sorted(paths)
                yield kind, shown[0].rpartition("::")[2], shown

    def strays(self):
        """The paths of hidden items outside of `PRIVATE`, the shortest of each item. A name `_` is no path. A macro by
        `macro_rules!` also has one at the root, which rustc gives it."""
        for (_, kind), paths in self.hidden.items():
            outside = [path for path in paths if not path.startswith(PRIVATE) and not path.endswith("::_")]
            if kind == "macro" and len(outside) < len(paths):
                outside = [path for path in outside if path.count("::") > 1]
            yield from sorted(outside, key=lambda path: (len(path), path))[:1]


def problems(api, visible=VISIBLE, two_paths=TWO_PATHS, same_name=SAME_NAME, strays=frozenset(STRAYS), whole=frozenset(WHOLE)):
    """The problems, one line each."""
    items = list(api.visible())
    if len(items) > visible:
        yield f"{len(items)} items are visible, and at most {visible} may be: make those private that no user needs"
    doubled = [paths for _, _, paths in items if len(paths) > 1]
    if len(doubled) > two_paths:
        yield f"{len(doubled)} items have more than one path, and {two_paths} may have:"
        yield from (f"    {', '.join(paths)}" for paths in sorted(doubled))
    for path in sorted(set(api.strays()) - strays):
        yield f"{path} is hidden, and is outside of {PRIVATE[:-2]}: make it `pub(crate)`, and name it there if a macro needs it"
    yield from (f"{path} is hidden no more: remove it from STRAYS in .ci/items.py" for path in sorted(strays - set(api.strays())))
    names = defaultdict(list)
    for kind, name, paths in items:
        if kind in TYPES:
            names[name].append(paths[0])
    same = {name: sorted(paths) for name, paths in names.items() if len(paths) > 1}
    yield from (f"two types have the name `{name}`: {', '.join(paths)}" for name, paths in sorted(same.items()) if name not in same_name)
    yield from (f"`{name}` is the name of one type: remove it from SAME_NAME in .ci/items.py" for name in sorted(set(same_name) - set(same)))
    yield from (f"{path}: all items of a module of another crate are re-exported; list those that users need" for path in api.globs if path not in whole)
    yield from (f"{path} is re-exported no more: remove it from WHOLE in .ci/items.py" for path in sorted(whole - set(api.globs)))


def built():
    """The JSON of rustdoc."""
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1"}
    command = ["cargo", "rustdoc", "--quiet", "-p", "streamflow-gpu", "--lib", "--features", FEATURES]
    command += ["--", "-Z", "unstable-options", "--output-format", "json", "--document-hidden-items", "--cap-lints", "allow"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    doc = json.loads((ROOT / target / "doc" / f"{CRATE}.json").read_text())
    if doc["format_version"] != FORMAT:
        sys.exit(f"rustdoc writes format {doc['format_version']}, and .ci/items.py reads {FORMAT}: compare the two")
    return doc


def listing(api):
    modules = defaultdict(list)
    for kind, name, paths in api.visible():
        modules[paths[0].rpartition("::")[0]].append(name)
    for module, names in sorted(modules.items()):
        yield f"{len(names):4} {module}: {', '.join(sorted(names))}"


# ---- the self-test -------------------------------------------------------------------------------


def crate(root, others=(), paths=()):
    """A small crate: `root` and the other modules have lists of (name, inner)."""
    index, numbers = {}, {name: number for number, (name, _) in enumerate(others, 100)}

    def add(number, name, inner, hidden=False):
        attributes = [{"other": "#[doc(hidden)]"}] if hidden or inner.pop("hidden", False) else []
        index[str(number)] = {"id": number, "name": name, "visibility": "public", "inner": inner, "attrs": attributes}
        return number

    at = 1000
    for number, (name, items) in [(0, (CRATE, root)), *enumerate(others, 100)]:
        children = []
        for item, inner in items:
            if item in numbers:
                children.append(numbers[item])
            else:
                children.append(add(inner.get("number", at), item, {key: value for key, value in inner.items() if key != "number"}))
                at += 1
        add(number, name, {"module": {"items": children}}, hidden=name.startswith("_"))
    return {"root": 0, "index": index, "paths": dict(paths)}


def use(number, name, source="", is_glob=False, hidden=False):
    return ("", {"use": {"id": number, "name": name, "source": source, "is_glob": is_glob}, "hidden": hidden})


STRUCT = ("A", {"struct": {}, "number": 1})
HIDDEN = ("A", {"struct": {}, "number": 1, "hidden": True})
MACRO = ("_a", {"macro": "", "number": 1, "hidden": True})
OTHER = ("A", {"trait": {}, "number": 2})
ELSEWHERE = {"7": {"kind": "struct"}, "8": {"kind": "proc_attribute"}}
# The crate, and the problem that the check must report, or None.
CASES = {
    "good": (crate([STRUCT, ("f", {"function": {}}), ("C", {"constant": {}})]), None),
    "too many": (crate([STRUCT, ("f", {"function": {}}), ("g", {"function": {}}), ("h", {"function": {}})]), "4 items are visible"),
    "two paths": (crate([STRUCT, ("m", {})], [("m", [use(1, "A")])]), "    streamflow::A, streamflow::m::A"),
    "another name": (crate([STRUCT, use(1, "B")]), "    streamflow::A, streamflow::B"),
    "by a glob": (crate([STRUCT, ("m", {}), use(100, "m", is_glob=True)], [("m", [("B", {"enum": {}, "number": 3})])]), "streamflow::B, streamflow::m::B"),
    "in the prelude": (crate([STRUCT, ("prelude", {})], [("prelude", [use(1, "A")])]), None),
    "one name": (crate([STRUCT, ("m", {})], [("m", [OTHER])]), "two types have the name `A`: streamflow::A, streamflow::m::A"),
    "a function of that name": (crate([STRUCT, ("m", {})], [("m", [("A", {"function": {}, "number": 2})])]), None),
    "another crate's": (crate([STRUCT, use(7, "B"), ("f", {"function": {}}), ("g", {"function": {}})], paths=ELSEWHERE), "4 items are visible"),
    "another crate's, twice": (crate([use(7, "B"), ("m", {})], [("m", [use(7, "B")])], ELSEWHERE), "streamflow::B, streamflow::m::B"),
    "another crate's macro": (crate([STRUCT, use(8, "B"), ("f", {"function": {}}), ("g", {"function": {}})], paths=ELSEWHERE), None),
    "hidden in its module": (crate([("__private", {})], [("__private", [STRUCT])]), None),
    "hidden elsewhere": (crate([HIDDEN]), "streamflow::A is hidden"),
    "a hidden use": (crate([use(1, "A", hidden=True), ("__private", {})], [("__private", [STRUCT])]), "streamflow::A is hidden"),
    "a use of a hidden item": (crate([("m", {}), ("__private", {})], [("m", [use(1, "B")]), ("__private", [HIDDEN])]), "streamflow::m::B is hidden"),
    "a use of a hidden use": (crate([use(1, "A")], [("m", [STRUCT, use(1, "A", hidden=True)])]), "streamflow::A is hidden"),
    "in another hidden module": (crate([("__m", {})], [("__m", [STRUCT])]), "streamflow::__m::A is hidden"),
    "hidden without a name": (crate([use(1, "_", hidden=True), ("__private", {})], [("__private", [STRUCT])]), None),
    "visible, and hidden in the one module": (crate([STRUCT, ("__private", {})], [("__private", [use(1, "A", hidden=True)])]), None),
    "visible, and hidden too": (crate([STRUCT, ("__private", {})], [("__private", [use(1, "A")])]), None),
    "another crate's, hidden": (crate([use(7, "B", hidden=True)], paths=ELSEWHERE), "streamflow::B is hidden"),
    "a macro of the root": (crate([MACRO, ("__private", {})], [("__private", [use(1, "a")])]), None),
    "a macro that no module has": (crate([MACRO]), "streamflow::_a is hidden"),
    "a macro elsewhere": (crate([MACRO, ("m", {}), ("__private", {})], [("m", [use(1, "a")]), ("__private", [use(1, "a")])]), "streamflow::m::a is hidden"),
    "a glob of another crate": (crate([use(9, "driver", "driver", is_glob=True)]), "streamflow::driver: all items of a module"),
    "a module of another crate": (crate([use(6, "time", "driver::time")], paths={"6": {"kind": "module"}}), "streamflow::driver::time: all items"),
}


def self_test():
    for name, (doc, expected) in CASES.items():
        report = "\n".join(problems(Api(doc), visible=3, two_paths=0, same_name={}, strays=frozenset(), whole=frozenset()))
        is_right = expected in report if expected else not report
        assert is_right, f"{name}: expected {expected!r}, but the check reports {report!r}"
    good, whole = Api(CASES["good"][0]), {f"{CRATE}::driver"}
    report = "\n".join(problems(good, visible=3, same_name={"A": "a reason"}, strays=frozenset(), whole=whole))
    assert "remove it from SAME_NAME" in report and "remove it from WHOLE" in report, report
    named = Api(CASES["a glob of another crate"][0])
    assert not list(problems(named, visible=3, same_name={}, strays=frozenset(), whole=whole)), named.globs
    print(f"the self-test passed: {len(CASES) + 1} small crates")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    api = Api(built())
    if "--list" in sys.argv:
        print("\n".join(listing(api)))
    if found := list(problems(api)):
        sys.exit("\n".join(found))
    print(f"{len(list(api.visible()))} items of {CRATE} are visible, each by one path; the bound is {VISIBLE}")


main()
