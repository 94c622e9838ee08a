#!/usr/bin/env python3
"""Checks that lists in Markdown are complete.

    .ci/pages.py              checks
    .ci/pages.py --self-test  tests this check on small trees

- The index `docs/decisions/README.md` links each decision.
- CONTRIBUTING.md links each page below `docs`, but for decisions and pictures.
- The guide has a module for each of its pages.
- The table of variables in TESTING.md has each variable `STREAMFLOW_…` that code reads, and no other. Code reads a variable
  whose name is a string, or that a script of the shell expands. Where the name is the beginning of others, as for random
  searches, these are the variables.
- The table of binaries in TESTING.md has each binary of `tests/Cargo.toml` that cargo tests.
- The table of dependencies in CONTRIBUTING.md has each crate of the manifests, but for those of other programs: the template and
  `tests/beside`.
- README.md or `examples/README.md` names each program of the examples.
- `tests/gpu-results/README.md` names each result, and no other file.
"""

import re
import sys
import tomllib
from pathlib import Path

# Write no cache files beside the sources.
sys.dont_write_bytecode = True
from markdown import ROOT, links, listed, self_test, without_code

GUIDE = "streamflow/src/guide"
NAME = r"STREAMFLOW_[A-Z0-9_]+"
READ = re.compile(rf"\benv::var(?:_os)?\(\s*\"({NAME})\"|\bvariable\(\s*\"({NAME})\"")


def text(root, path):
    return (root / path).read_text() if (root / path).exists() else ""


def targets(root, path):
    """The targets of the links of a page, without anchors."""
    return {target.partition("#")[0] for _, target in links(text(root, path))}


def names(root, folder, ending):
    """The names of the files of a folder, without the ending."""
    paths = listed(root, f"{folder}/*{ending}")
    return {Path(path).name.removesuffix(ending) for path in paths if str(Path(path).parent) == folder}


def difference(what, listed_, there, page, missing):
    yield from (f"{page} does not have the {what} `{name}`" for name in sorted(there - listed_))
    yield from (f"{page} has the {what} `{name}`, {missing}" for name in sorted(listed_ - there))


def read_variables(root):
    """The variables that code reads or sets for a process that reads them."""
    found, read, mentioned = set(), set(), set()
    for path in listed(root, "*.rs", "*.py", "*.sh", ".ci/run"):
        if path == ".ci/pages.py":
            continue
        code = (root / path).read_text()
        mentioned |= set(re.findall(NAME, code))
        read |= {one or other for one, other in READ.findall(code)}
        if path.endswith((".rs", ".py")):
            found |= set(re.findall(rf"\"({NAME})\"", code))
        else:
            found |= set(re.findall(rf"\$\{{?({NAME})", code))
    for name in sorted(found):
        parts = {f"{name}_SECONDS", f"{name}_SEED"}
        if parts & mentioned:
            found = found | parts if name in read else found - {name} | parts
    return found


def dependencies(manifest):
    """The crates that a manifest names with a source of their own: neither a folder nor the workspace."""
    tables = [manifest, manifest.get("workspace", {}), *manifest.get("target", {}).values()]
    for table in tables:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, source in table.get(kind, {}).items():
                source = {} if isinstance(source, str) else source
                if "path" not in source and not source.get("workspace"):
                    yield source.get("package", name)


def first_cells(page, header):
    """The names in the first column of a table of a page."""
    table = re.search(rf"^\| {header} \|.*\n((?:\|.*\n)*)", page, re.M)
    rows = table[1].split("\n") if table else []
    return {name for row in rows if row for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


def problems(root):
    """The problems, one line each."""
    here = {target.removesuffix(".md") for target in targets(root, "docs/decisions/README.md") if "/" not in target}
    there = names(root, "docs/decisions", ".md") - {"README"}
    yield from difference("decision", here, there, "docs/decisions/README.md", "which is no file")

    linked = {target[5:-3] for target in targets(root, "CONTRIBUTING.md") if re.fullmatch(r"docs/[\w-]+\.md", target)}
    yield from difference("page", linked, names(root, "docs", ".md"), "CONTRIBUTING.md", "which is no file of docs")

    guide = text(root, f"{GUIDE}/mod.rs")
    modules = set(re.findall(r"doc = include_str!\(\"(\w+)\.md\"\)", guide)) & set(re.findall(r"^pub mod (\w+)", guide, re.M))
    yield from difference("page", modules, names(root, GUIDE, ".md"), f"{GUIDE}/mod.rs", "which is no file")

    rows = [line.split("|")[1] for line in without_code(text(root, "TESTING.md")).split("\n") if line.startswith("| `STREAMFLOW_")]
    variables = {name for row in rows for name in re.findall(f"`({NAME})`", row)}
    yield from difference("variable", variables, read_variables(root), "TESTING.md", "which no code reads")

    binaries = set(re.findall(r"^\[\[test\]\]\nname = \"(\w+)\"", text(root, "tests/Cargo.toml"), re.M))
    rows = first_cells(text(root, "TESTING.md"), "Binary") - {"sources.rs"}
    yield from difference("binary", rows, binaries, "TESTING.md", "which is no test of tests/Cargo.toml")

    manifests = [path for path in listed(root, "*Cargo.toml") if not path.startswith(("template/", "tests/beside/"))]
    crates = {crate for path in manifests for crate in dependencies(tomllib.loads((root / path).read_text()))}
    rows = first_cells(text(root, "CONTRIBUTING.md"), "Crate")
    yield from difference("crate", rows, crates, "CONTRIBUTING.md", "which no manifest names")

    pages = text(root, "README.md") + text(root, "examples/README.md")
    named = {name for name in re.findall(r"`(\w+)`", pages)}
    programs = names(root, "examples/src/bin", ".rs") | names(root, "examples/examples", ".rs")
    yield from (f"README.md names no program `{name}` of the examples" for name in sorted(programs - named))

    rows = [line for line in text(root, "tests/gpu-results/README.md").split("\n") if line.startswith("|")]
    results = {name for row in rows for name in re.findall(r"`(\d{4}-\d\d-\d\d-[\w-]+\.txt)`", row)}
    kept = {f"{name}.txt" for name in names(root, "tests/gpu-results", ".txt")}
    yield from difference("result", results, kept, "tests/gpu-results/README.md", "which is no file")


# ---- the self-test -------------------------------------------------------------------------------

GOOD = {
    "docs/decisions/README.md": "[a](why-a.md)\n",
    "docs/decisions/why-a.md": "# Why a?\n",
    "docs/adding-a.md": "# Adding a\n",
    "CONTRIBUTING.md": "[a](docs/adding-a.md) [d](docs/decisions/README.md)\n\n| Crate | Why |\n|---|---|\n| `spin` | locks |\n",
    "Cargo.toml": '[workspace.dependencies]\nspin = "0"\nown = { path = "own" }\n',
    "a/Cargo.toml": "[dependencies]\nspin = { workspace = true }\n",
    f"{GUIDE}/mod.rs": '#[cfg_attr(feature = "a", doc = include_str!("one.md"))]\n#[cfg_attr(docsrs, doc(cfg(a)))]\npub mod one {}\n',
    f"{GUIDE}/one.md": "# One\n",
    "TESTING.md": "| `STREAMFLOW_A` | – |\n| `STREAMFLOW_S_SECONDS`, `STREAMFLOW_S_SEED` | – |\n| `STREAMFLOW_C` | `STREAMFLOW_X` |\n"
    "\n| Binary | Suites |\n|---|---|\n| `runs` | `x` |\n",
    "tests/Cargo.toml": '[[test]]\nname = "runs"\n\n[[bench]]\nname = "floor"\n',
    "src/a.rs": 'const A: &str = "STREAMFLOW_A";\nconst S: &str = "STREAMFLOW_S";\n// STREAMFLOW_S_SECONDS\n',
    "tests/c.sh": 'echo "${STREAMFLOW_C:-}"\n',
    "README.md": "| [`first`](examples/src/bin/first.rs) |\n",
    "examples/src/bin/first.rs": "fn main() {}\n",
    "tests/gpu-results/README.md": "| `2026-01-01-h200-a.txt` |\n",
    "tests/gpu-results/2026-01-01-h200-a.txt": "",
}
CASES = {
    "good": ({}, None),
    "a decision that is not listed": ({"docs/decisions/why-b.md": "# Why b?\n"}, "README.md does not have the decision `why-b`"),
    "a decision that is no file": ({"docs/decisions/why-a.md": None}, "has the decision `why-a`, which is no file"),
    "a page that is not linked": ({"docs/adding-b.md": ""}, "CONTRIBUTING.md does not have the page `adding-b`"),
    "a page without a module": ({f"{GUIDE}/two.md": ""}, "mod.rs does not have the page `two`"),
    "a variable without a row": ({"src/b.py": 'os.environ["STREAMFLOW_B"]'}, "TESTING.md does not have the variable `STREAMFLOW_B`"),
    "a row without a variable": ({"src/a.rs": 'const S: &str = "STREAMFLOW_S"; // STREAMFLOW_S_SEED\n'}, "has the variable `STREAMFLOW_A`"),
    "the beginning of others that is read, too": ({"src/b.rs": 'env::var("STREAMFLOW_S")'}, "does not have the variable `STREAMFLOW_S`"),
    "a crate without a row": ({"a/Cargo.toml": '[target."cfg(unix)".dev-dependencies]\nx = { version = "1" }\n'}, "does not have the crate `x`"),
    "a row without a crate": ({"Cargo.toml": ""}, "has the crate `spin`, which no manifest names"),
    "a binary without a row": ({"tests/Cargo.toml": '[[test]]\nname = "runs"\n\n[[test]]\nname = "ends"\n'}, "does not have the binary `ends`"),
    "a row without a binary": ({"tests/Cargo.toml": ""}, "has the binary `runs`, which is no test"),
    "a program that is not named": ({"examples/src/bin/second.rs": ""}, "names no program `second`"),
    "a result that is not named": ({"tests/gpu-results/2026-01-02-h200-b.txt": ""}, "does not have the result `2026-01-02"),
    "a result that is no file": ({"tests/gpu-results/2026-01-01-h200-a.txt": None}, "which is no file"),
}


def main():
    if "--self-test" in sys.argv:
        return self_test(GOOD, CASES, problems)
    if found := list(problems(ROOT)):
        sys.exit("\n".join(found))
    print(f"the lists of pages are complete; {len(read_variables(ROOT))} variables")


main()
