#!/usr/bin/env python3
"""Libraries in the place of NVIDIA's, to link with and to start with: `stubs.py FOLDER LIBRARY... [--cuda 12000]`.

Each function returns an error, that of `libcuda` CUDA_ERROR_STUB_LIBRARY. The names are those of cudarc's bindings, and with
`--cuda` those that the bindings of one CUDA version have. `LIBRARY.so` is for the linker, `LIBRARY.so.N` for a program.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

# The module of cudarc, the version in the file's name, and the number that each function returns.
LIBRARIES = {
    "cuda": ("driver", 1, 34),
    "cublas": ("cublas", 13, 1),
    "cublasLt": ("cublaslt", 13, 1),
    "curand": ("curand", 10, 101),
    "nvrtc": ("nvrtc", 13, 4),
}


def sources() -> Path:
    """The folder of cudarc's sources, as cargo has them."""
    manifest = Path(__file__).parent / "Cargo.toml"
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", str(manifest)]
    packages = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    (package,) = [package for package in packages if package["name"] == "cudarc"]
    return Path(package["manifest_path"]).parent / "src"


def functions(text: str, version: str | None) -> set[str]:
    """The functions of bindings, each of which has a line `#[cfg(any(feature = "cuda-…", …))]` before it or is in all."""
    found, versions = set(), None
    for line in text.splitlines():
        if line.startswith("#[cfg(any("):
            versions = line
        elif match := re.match(r"pub unsafe fn (cu\w+|nvrtc\w+)\(", line):
            if version is None or versions is None or f'"cuda-{version}"' in versions:
                found.add(match[1])
            versions = None
        elif not line.startswith(("#[", "///")):
            versions = None
    return found - {"culib"}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("libraries", nargs="+", choices=LIBRARIES)
    arguments.add_argument("--cuda")
    arguments = arguments.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for library in arguments.libraries:
        module, number, code = LIBRARIES[library]
        names = functions((sources() / module / "sys" / "mod.rs").read_text(), arguments.cuda)
        if len(names) < 10:
            sys.exit(f"cudarc's bindings of {library} have {len(names)} functions: their form has changed")
        text = "\n".join(f"int {name}(void) {{ return {code}; }}" for name in sorted(names))
        file = arguments.folder / f"lib{library}.so"
        soname = f"lib{library}.so.{number}"
        command = ["cc", "-x", "c", "-", "-shared", "-fPIC", "-nostdlib", "-w", f"-Wl,-soname,{soname}", "-o", str(file)]
        subprocess.run(command, check=True, input=text, text=True)
        shutil.copyfile(file, arguments.folder / soname)


if __name__ == "__main__":
    main()
