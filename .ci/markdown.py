"""Reads Markdown for `.ci/words.py`, `.ci/links.py` and `.ci/pages.py`: the files of the repository, their prose, their headings
and their links."""

import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^ *(```+|~~~+)")


def listed(root, *patterns):
    """The paths of git's files that match a pattern, with those that are not added yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *patterns]
    paths = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({path for path in paths if path and (root / path).exists()})


def without_code(text):
    """The text with empty lines in place of code blocks and comments, so that each line keeps its number."""
    text = re.sub(r"<!--.*?-->", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL)
    lines, fence = [], None
    for line in text.split("\n"):
        found = FENCE.match(line)
        is_code = fence is not None or found is not None
        if found and fence is None:
            fence = found[1]
        elif found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = None
        lines.append("" if is_code else line)
    return "\n".join(lines)


def prose(text):
    """The text without code blocks and tables."""
    return "\n".join(line for line in without_code(text).split("\n") if not line.lstrip().startswith("|"))


def anchors(text):
    """The anchors of the headings, as GitHub and rustdoc make them."""
    found, counts = set(), {}
    for line in without_code(text).split("\n"):
        if heading := re.match(r"#{1,6} +(.*?)[ #]*$", line):
            words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            count = counts[name] = counts.get(name, -1) + 1
            found.add(f"{name}-{count}" if count else name)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def links(text):
    """The targets of the links and pictures outside of code, each with the number of its line."""
    for number, line in enumerate(without_code(text).split("\n"), 1):
        line = re.sub(r"(`+)[^`].*?\1", lambda code: "`" * len(code[0]), line)
        for target in re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", line):
            yield number, target
        for target in re.findall(r"^ *\[[^\]]+\]: +<?([^\s>]+)", line) + re.findall(r"(?:src|href)=\"([^\"]+)\"", line):
            yield number, target


def written(files):
    """A folder with these files, which is a git repository: the tree of a self-test."""
    folder = tempfile.TemporaryDirectory()
    for path, text in files.items():
        path = Path(folder.name, path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "--quiet", folder.name], check=True)
    return folder


def self_test(good, cases, problems):
    """Checks that `problems` reports of each case what it expects: a case has the files that it changes, or `None` for one that is
    missing, and a part of the report, or `None` for an empty one."""
    for name, (changed, expected) in cases.items():
        with written({path: text for path, text in (good | changed).items() if text is not None}) as folder:
            report = "\n".join(problems(Path(folder)))
        is_right = expected in report if expected else not report
        assert is_right, f"{name}: expected {expected!r}, but the check reports {report!r}"
    print(f"the self-test passed: {len(cases)} small trees")
