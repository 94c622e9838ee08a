"""The ports' code for GPUs, on the tests' `libcuda`: a driver without a GPU, whose work executes in the call that queues it,
and which executes no kernel. `STREAMFLOW_FAKE_CUDA` names the folder that has it (see `.ci/run python`)."""

import os
import subprocess
import sys

import pytest

FOLDER = os.environ.get("STREAMFLOW_FAKE_CUDA")
if not FOLDER:
    pytest.skip("needs the tests' libcuda: set STREAMFLOW_FAKE_CUDA", allow_module_level=True)

PROGRAM = """
import sys
import numpy as np
import seed_graphs as sg

on_default = sys.argv[1] == "True"
platform = sg.Platform("cuda")
app = sg.CudaStreamApp(platform=platform, use_default_stream=on_default)


class Array:
    def __init__(self, kept):
        self.kept, self.__cuda_array_interface__ = kept, kept.__cuda_array_interface__


with app.spawn() as running:
    for i in range(3):
        for source in (app.source1, app.source2):
            source.push(dict(tensor=sg.zeros((2, 3), stream=sg.Stream(platform))))
        one, two = app.in1.take()["tensor"], app.in2.take()["tensor"]
        number = one.__cuda_array_interface__["stream"]
        # The number 0 would mean that there is no stream.
        assert number == 1 if on_default else number == app.in1.stream.handle > 2, number
        app.processed.push(dict(one=Array(one), two=two))
        taken = app.printed.take()
        assert sorted(taken) == ["one", "two"] and taken["one"].numpy().tolist() == [[0.0] * 3] * 2
    try:
        app.source1.push(dict(tensor=np.zeros(3)), copy=False)
    except BufferError as error:
        assert "without a copy" in str(error)
    else:
        raise AssertionError("host memory was taken")
    running.finish()
    assert running.join().ticks["rx"] == 3
print("done")
"""


@pytest.mark.parametrize("on_default", [False, True])
def test_the_ports_exchange_memory_of_a_gpu(on_default):
    environment = {**os.environ, "LD_LIBRARY_PATH": FOLDER}
    command = [sys.executable, "-c", PROGRAM, str(on_default)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and ended.stdout == "done\n", ended.stderr
