"""Reads Rust files for `.ci/layers.py`, `.ci/lines.py` and `.ci/unsafe_rooms.py`: their code, without comments and tests, and the paths that each
module names."""

import re
from pathlib import Path, PurePath
from typing import NamedTuple

IDENT = r"[A-Za-z_]\w*"
DEFINED = re.compile(
    rf"\b(?:struct|enum|trait|union|fn|const|static|type|macro_rules!)\s+(?:mut\s+)?({IDENT})"
)
CHILD = re.compile(rf"\bmod\s+({IDENT})\s*;")
# `#[path = "a.rs"] mod b;`, before strings are blanked.
AT_PATH = re.compile(rf'#\s*\[\s*path\s*=\s*"([^"]+)"\s*\]\s*(?:pub\b(?:\s*\([^)]*\))?\s*)?mod\s+({IDENT})\s*;')
INLINE = re.compile(rf"\bmod\s+(\$?{IDENT})\s*\{{")
TEST = re.compile(r"#\s*\[\s*cfg\s*\(\s*(?:test|all\s*\(\s*test\b[^\]]*)\s*\)\s*\]")
TEST_FILE = re.compile(r"#\s*!\s*\[\s*cfg\s*\(\s*(?:test|all\s*\(\s*test\b[^\]]*)\s*\)\s*\]")
MODULE_PATH = re.compile(r'#\s*\[\s*path\s*=\s*"([^"]+)"\s*\]')
MODULE = re.compile(rf"\bmod\s+({IDENT})")
# Code that only a model of threads has.
MODEL = re.compile(r"#\s*\[\s*cfg\s*\(\s*loom\s*\)\s*\]")
ITEM = re.compile(
    r"(?:\s|#\s*\[[^\]]*\]|pub\b(?:\s*\([^)]*\))?)*"
    r"(?:use|mod|fn|struct|enum|union|trait|impl|const|static|type|unsafe|async|extern|macro_rules)\b"
)
VISIBLE = re.compile(r"\bpub\s*\(\s*(?:in\s+[\w:\s]+|crate|super|self)\s*\)")
USE = re.compile(rf"(?:(\bpub)\s+)?\buse\s+([^;]*);")
PATH = re.compile(rf"(?<![\w:.$])(?:::\s*|\$)?{IDENT}(?:\s*::\s*{IDENT})+|\$crate(?:\s*::\s*{IDENT})+")


def blank(text, start, end):
    """Replaces the text between `start` and `end` by spaces, and keeps the lines."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


# A comment of a line or the beginning of one of a block, a raw string, a character, a string.
TEXTS = re.compile(
    r"""//[^\n]*|(?P<block>/\*)|(?<!\w)(?:b|c)?r(?P<sharps>#*)".*?"(?P=sharps)"""
    r"""|(?<!\w)b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'|"(?:[^"\\]|\\.)*(?:"|$)""",
    re.DOTALL,
)


def without_texts(text, string=" "):
    """The source without comments, strings and characters. Each character of a string becomes `string`."""
    out, at = [], 0
    while found := TEXTS.search(text, at):
        end = found.end()
        if found["block"]:
            depth = 1
            while depth and (sign := re.compile(r"/\*|\*/").search(text, end)):
                depth, end = depth + (1 if sign[0] == "/*" else -1), sign.end()
            end = len(text) if depth else end
        sign = " " if found[0].startswith("/") else string
        out += (text[at : found.start()], re.sub(r"\S", sign, text[found.start() : end]))
        at = end
    return "".join(out) + text[at:]


def closing(text, at):
    """The index after the bracket that closes the one at `at`."""
    depth = 0
    for index in range(at, len(text)):
        if text[index] in "{[(":
            depth += 1
        elif text[index] in "}])":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text)


def item_end(text, at):
    """The index after the item that begins at `at`, or after the comma that ends a field or a variant."""
    index, is_item = at, ITEM.match(text, at)
    while index < len(text):
        if text[index] in "([":
            index = closing(text, index)
        elif text[index] == "{":
            end = closing(text, index)
            # `use a::{b};` has a semicolon after its braces.
            return end + 1 if text[end : end + 1] == ";" else end
        elif text[index] == ";" or (text[index] == "," and not is_item):
            return index + 1
        elif text[index] in "}])":
            return index
        else:
            index += 1
    return len(text)


def without_tests(text):
    """The source without items under `#[cfg(test)]` and `#[cfg(loom)]`, and the names of the removed modules."""
    modules = set()
    while found := TEST.search(text) or MODEL.search(text):
        end = item_end(text, found.end())
        modules.update(CHILD.findall(text[found.end() : end]))
        text = blank(text, found.start(), end)
    return text, modules


def test_files(sources):
    """The paths of the files that are tests, of sources by their paths: the modules that are declared under `#[cfg(test)]`,
    with the files below them. The name of a file counts for nothing."""
    tests = set()
    for path, source in sources.items():
        path, text = PurePath(path), without_texts(source, string='"')
        if TEST_FILE.search(text):
            tests.add(path)
        while found := TEST.search(text):
            begin, end = found.start(), item_end(text, found.end())
            if CHILD.search(text, begin, end):
                # Of `mod a { mod b; }` the folder of `a` has the files.
                module = MODULE.search(text, begin, end)
                named = MODULE_PATH.search(source, begin, module.start())
                folder = path.parent if path.name in ("lib.rs", "mod.rs") else path.with_suffix("")
                file = path.parent / named[1] if named else folder / f"{module[1]}.rs"
                # The folder of `#[path = "a/mod.rs"]` is `a`; that of `b.rs` is `b`.
                below = file.parent if file.name == "mod.rs" else file.with_suffix("")
                tests.update(it for it in map(PurePath, sources) if it == file or below in it.parents)
            text = blank(text, begin, end)
    return {path for path in sources if PurePath(path) in tests}


def trees(text):
    """The paths of a use tree, each with the name that it imports: `a::{b, c as d}` as (a, b), b and (a, c), d."""
    text = text.strip()
    head = re.match(rf"((?:::\s*)?(?:(?:\$?{IDENT}|\*)\s*(?:::\s*)?)*)", text)[1]
    path = tuple(part for part in re.split(r"\s*::\s*", head.strip()) if part)
    rest = text[len(head) :].strip()
    if rest.startswith("{"):
        inner, depth, begun = rest[1 : closing(rest, 0) - 1], 0, 0
        for index, sign in enumerate(inner + ","):
            depth += (sign == "{") - (sign == "}")
            if sign == "," and depth == 0:
                if inner[begun:index].strip():
                    for below, name in trees(inner[begun:index]):
                        yield path + below, name
                begun = index + 1
        return
    name = None
    if path and (renamed := re.fullmatch(rf"({IDENT})\s+as\s+({IDENT})", path[-1])):
        path, name = path[:-1] + (renamed[1],), renamed[2]
    if path and path[-1] == "self":
        path = path[:-1]
    if path:
        yield path, name or path[-1]


class Import(NamedTuple):
    path: tuple
    name: str
    public: bool
    at: int


class File:
    """One source file: its definitions, its imports and the names in it."""

    def __init__(self, path, module, source):
        self.path, self.module = path, module
        text, self.test_modules = without_tests(without_texts(source))
        # `pub(in crate::a)` is a visibility, and not a use of `a`.
        text = VISIBLE.sub(lambda it: "pub" + re.sub(r"[^\n]", " ", it[0][3:]), text)
        self.children = dict.fromkeys(CHILD.findall(text))
        self.children.update((child, at) for at, child in AT_PATH.findall(source) if child in self.children)
        self.inline = [(it[1], it.end(), closing(text, it.end() - 1)) for it in INLINE.finditer(text)]
        self.defined = set(DEFINED.findall(text)) | {name for name, _, _ in self.inline}
        self.imports = []
        for found in USE.finditer(text):
            # `use<'a>` in a signature is not an import.
            if found[2].lstrip().startswith("<"):
                continue
            for path, name in trees(re.sub(r"\s+as\s+", " as ", found[2])):
                local = self.outside(path, found.start())
                if local is not None:
                    self.imports.append(Import(local, name, found[1] is not None, found.start()))
            text = blank(text, found.start(), found.end())
        self.text = text
        self.words = set(re.findall(IDENT, text))

    def outside(self, path, at):
        """The path relative to the file: within `mod a { … }`, the first `super` is the file itself."""
        depth = sum(begin <= at < end for _, begin, end in self.inline)
        while depth and path[:1] == ("super",):
            path, depth = path[1:], depth - 1
            if depth == 0 and path[:1] != ("super",):
                path = ("self",) + path
        return None if depth and path[:1] == ("self",) else path

    def paths(self):
        """Every path in the text, outside of imports."""
        for found in PATH.finditer(self.text):
            parts = tuple(re.split(r"\s*::\s*", found[0].removeprefix("::").strip()))
            if (path := self.outside(parts, found.start())) is not None:
                yield path, found.start()

    def line(self, at):
        # `blank` keeps the lines, so this is right for imports too.
        return self.text.count("\n", 0, at) + 1


class Target(NamedTuple):
    """The target of a path: the file that defines it, and the crate's module through which the path leads."""

    file: File
    entered: str | None
    is_module: bool


class Crate:
    """The modules of one crate, by their paths. `name` is that of a library, which its own code may use."""

    def __init__(self, root, name="streamflow"):
        self.root, self.name, self.files = Path(root).parent, name, {}
        self._add(Path(root), (), self.root)

    def _add(self, path, module, folder):
        """Adds a file, whose modules are in `folder`."""
        file = self.files[module] = File(path, module, path.read_text())
        for child, at in sorted(file.children.items()):
            names = (path.parent / at,) if at else (folder / f"{child}.rs", folder / child / "mod.rs")
            for candidate in names:
                if candidate.exists():
                    is_folder = at or candidate.name == "mod.rs"
                    below = candidate.parent if is_folder else candidate.with_suffix("")
                    self._add(candidate, module + (child,), below)

    def top(self):
        return {module[0] for module in self.files if module}

    def resolve(self, file, path, seen=frozenset()):
        """The target of a path in a file; `None` for a path to another crate."""
        head, module, rest, entered = path[0], file.module, path[1:], None
        if head in ("crate", "$crate", self.name):
            module = ()
        elif head == "self":
            pass
        elif head == "super":
            module = module[:-1]
            while rest[:1] == ("super",):
                module, rest = module[:-1], rest[1:]
        else:
            return self._name(file, path, seen)
        if not rest:
            return Target(self.files[module], module[0] if module else None, True)
        found = self._name(self.files[module], rest, seen)
        entered = (module or rest)[0]
        if found is None:
            return Target(self.files[module], entered if entered in self.top() else None, False)
        # A name of the root counts as a use of the module from which the root re-exports it.
        return found if not module else found._replace(entered=entered)

    def _name(self, file, path, seen):
        """The target of a path whose first part is a name in this file."""
        name, rest = path[0], path[1:]
        if (child := file.module + (name,)) in self.files:
            entered = child[0]
            if not rest:
                return Target(self.files[child], entered, True)
            found = self._name(self.files[child], rest, seen)
            return (found or Target(self.files[child], entered, False))._replace(entered=entered)
        if name in file.defined:
            return Target(file, file.module[0] if file.module else None, False)
        if (file.module, name) in seen:
            return None
        seen = seen | {(file.module, name)}
        for it in file.imports:
            if it.name == name and it.path != (name,):
                if found := self.resolve(file, it.path, seen):
                    if found.is_module and rest:
                        return self._name(found.file, rest, seen) or found._replace(is_module=False)
                    return found
        for it in file.imports:
            if it.name == "*" and (found := self.resolve(file, it.path[:-1], seen)) and found.is_module:
                if below := self._name(found.file, path, seen):
                    return below
        return None
