"""Runs the probes of all libraries, each in a process of its own with a time limit, and prints a table:

    python run.py [--seconds 100] [--jobs 4] [--matx PATH] [NAME...]

A library that is not installed is not run. `--matx` compiles the probe of MatX with nvcc, against the headers in a folder.
The exit code is 1 if a probe has failed."""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = [
    "numpy", "cupy", "torch", "jax", "numba", "cuda.core", "rmm", "nvmath", "cupy-interface", "torch-interface", "tensorflow",
    "pyarrow", "pycuda", "mpi4py", "cvcuda", "cvcuda-interface", "dali", "cucim", "cudf", "matx",
]


def run(name, seconds):
    command = [sys.executable, os.path.join(HERE, "probe.py"), name]
    environment = {
        **os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONFAULTHANDLER": "1",
    }
    begun = time.monotonic()
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment, cwd=HERE)
    except subprocess.TimeoutExpired:
        result = {"name": name, "verdict": f"FAILED: no result in {seconds} s"}
    else:
        try:
            result = json.loads(ended.stdout.strip().rpartition("\n")[2])
            if result["verdict"].startswith("FAILED"):
                result["note"] = "\n    ".join([result.get("note") or "", *ended.stderr.strip().splitlines()[-12:]])
        except ValueError:
            text = (ended.stderr or ended.stdout).strip().splitlines()
            result = {"name": name, "verdict": f"FAILED: exit code {ended.returncode}", "note": "\n    ".join(text[-12:])}
    result["seconds"] = round(time.monotonic() - begun, 1)
    print(f"{name}: {result['verdict']} ({result['seconds']} s)", flush=True)
    return result


def cell(result, way):
    if way not in result:
        return "-"
    text = f"{result[way]}/20"
    if f"{way} control" in result:
        text += f", control {result[f'{way} control']}/20"
    if f"{way} ms" in result:
        text += f", {result[f'{way} ms']:.3f} ms"
    return text


def yes(value):
    return {True: "yes", False: "NO", None: "-"}[value]


def table(results):
    rows = [("library", "out", "in", "same out / in", "lives out / in", "result")]
    for it in results:
        name = " ".join(filter(None, (it["name"], it.get("version"))))
        same = f"{yes(it.get('same out'))} / {yes(it.get('same in'))}"
        lives = f"{yes(it.get('lives out'))} / {yes(it.get('lives in'))}"
        rows.append((name, cell(it, "out"), cell(it, "in"), same, lives, it["verdict"]))
    for at, row in enumerate(rows):
        print("| " + " | ".join(row) + " |")
        if at == 0:
            print("|" + "---|" * len(row))
    for it in results:
        if it.get("note") and not it["verdict"].startswith("not installed"):
            print(f"{it['name']}: {it['note']}")


def build_matx(folder):
    command = [
        "nvcc", "-std=c++20", "-arch=native", "--expt-relaxed-constexpr", "-shared", "-Xcompiler", "-fPIC",
        f"-I{folder}", os.path.join(HERE, "matx_probe.cu"), "-o", os.path.join(HERE, "matx_probe.so"),
    ]
    return subprocess.run(command).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--matx")
    parser.add_argument("names", nargs="*", default=NAMES)
    options = parser.parse_args()
    if options.matx and build_matx(options.matx):
        print("matx: does not compile")
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda name: run(name, options.seconds), options.names))
    table(results)
    return int(any(result["verdict"].startswith("FAILED") for result in results))


if __name__ == "__main__":
    sys.exit(main())
