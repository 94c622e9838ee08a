"""Runs the tests of `fake_gpu`, each file in a process whose `libcuda` is that of the tests. `STREAMFLOW_FAKE_CUDA` names the folder that
has it (see `.ci/run python`)."""

import os
import subprocess
import sys

import pytest

FOLDER = os.environ.get("STREAMFLOW_FAKE_CUDA")


@pytest.mark.skipif(not FOLDER, reason="needs the tests' libcuda: set STREAMFLOW_FAKE_CUDA")
@pytest.mark.parametrize("name", ["rows", "exchanges", "streams"])
def test_each_exchange_is_ordered_or_refused(name):
    file = os.path.join(os.path.dirname(__file__), "fake_gpu", f"{name}.py")
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", file]
    environment = {**os.environ, "LD_LIBRARY_PATH": FOLDER}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "skipped" not in ended.stdout, ended.stdout
