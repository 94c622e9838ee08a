"""The programs of README and of the guide, as they stand there, and the demo: on the simulator, on a GPU, and on the
tests' `libcuda`, which executes no kernel."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import needs_gpu
from test_exchange import FAKE, without_gpu

HERE = Path(__file__).parent
PAGES = {
    "README": HERE.parent / "README.md",
    "guide": HERE.parents[2] / "streamflow" / "src" / "guide" / "graphs_in_python.md",
}
PLACES = pytest.mark.parametrize("place", ["simulator", "fake", "gpu"])


def program(page):
    """The blocks of a page that use the module, as one program."""
    blocks = re.findall(r"^```(?:python|text)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    used = [block for block in blocks if re.search(r"^(import|from) (streamflow|numpy)\b", block, re.MULTILINE)]
    assert used, page
    return "".join(used)


def run(place, *arguments):
    if place == "simulator":
        environment = without_gpu()
    elif place == "fake":
        if not FAKE:
            pytest.skip("needs the tests' libcuda: set STREAMFLOW_FAKE_CUDA")
        environment = {**os.environ, "LD_LIBRARY_PATH": FAKE}
    else:
        needs_gpu()
        environment = dict(os.environ)
    ended = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=120
    )
    print(ended.stdout)
    return ended


def has_no_kernel(place, ended):
    """Whether a graph of the tests' `libcuda` has failed at its kernel: without NVRTC it can't be compiled, and that `libcuda`
    finds no function in code that NVRTC has compiled."""
    refused = ["NVRTC, CUDA's compiler library, was not found", "cannot be loaded: cuModuleGetFunction"]
    return place == "fake" and any(text in ended.stderr for text in refused)


@PLACES
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_the_programs_of_a_page_run(place, page):
    ended = run(place, "-c", program(page))
    assert ended.returncode == 0 or has_no_kernel(place, ended), ended.stdout + ended.stderr
    if place != "fake":
        # The graph has doubled the array of ones.
        assert ended.stdout.endswith("[[2. 2. 2.]\n [2. 2. 2.]]\n"), ended.stdout
    where = "host" if place == "simulator" else "cuda"
    if page is PAGES["README"]:
        assert f"<streamflow.Tensor float32[2, 3] on {where}> 6.0\n" in ended.stdout


@PLACES
def test_the_demo_runs(place):
    ended = run(place, "-m", "streamflow.demo")
    # On the fake GPU no kernel runs, so the result is wrong, and the demo says so.
    assert ended.returncode == (place == "fake"), ended.stdout + ended.stderr
    how = "is shared" if place == "simulator" else "was copied to the GPU and back"
    assert f"the memory {how}" in ended.stdout, ended.stdout
    if not has_no_kernel(place, ended):
        assert "ten times as much, by a graph: [[0.0, " in ended.stdout, ended.stdout
    assert "what NumPy has written: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]" in ended.stdout
