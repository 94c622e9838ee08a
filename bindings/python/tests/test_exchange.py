"""Runs the tests of `without_gpu`, each file in a process that sees no GPU, so that its default platform is the simulator: DLPack's C
exchange API works on that alone."""

import os
import subprocess
import sys

import pytest

FAKE = os.environ.get("STREAMFLOW_FAKE_CUDA")


def without_gpu():
    """The environment of a process that sees no GPU, and no `libcuda` of the tests."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    if FAKE and environment.get("LD_LIBRARY_PATH") == FAKE:
        del environment["LD_LIBRARY_PATH"]
    return environment


@pytest.mark.parametrize("name", ["exchange_api"])
def test_the_exchange_api_on_the_simulator(name):
    file = os.path.join(os.path.dirname(__file__), "without_gpu", f"{name}.py")
    command = [sys.executable, "-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider", file]
    ended = subprocess.run(command, env=without_gpu(), capture_output=True, text=True, timeout=300)
    print(ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
