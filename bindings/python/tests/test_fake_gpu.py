"""The module's code for GPUs, on a `libcuda` of the tests: a driver without a GPU, whose work executes in the call that
queues it. `STREAMFLOW_FAKE_CUDA` names the folder that has it (see `.ci/run python`). Each test is a process of its own."""

import os
import subprocess
import sys
import textwrap

import pytest

FOLDER = os.environ.get("STREAMFLOW_FAKE_CUDA")
if not FOLDER:
    pytest.skip("needs the tests' libcuda: set STREAMFLOW_FAKE_CUDA", allow_module_level=True)

BEGIN = """
import gc
import numpy as np
import streamflow as sf
from conftest import is_back
assert sf.default_platform().name == "cuda"
"""
END = """
gc.collect()
assert is_back("adopted", 0) and is_back("lent", 0), sf.live()
assert sf.live()["leaked"] == 0
print("done")
"""


def on_the_fake(program, **variables):
    """Runs the body of a function, after which all memory must be back on its side."""
    body = textwrap.indent(textwrap.dedent(program), "    ")
    program = f"{BEGIN}\ndef program():\n{body}\nprogram()\n{END}"
    environment = {**os.environ, "LD_LIBRARY_PATH": FOLDER, "PYTHONPATH": os.path.dirname(__file__), **variables}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and ended.stdout == "done\n", ended.stderr


def test_a_copy_on_the_host_is_free_when_its_arrays_are():
    # The memory must be free without a later call of streamflow.
    on_the_fake("""
        tensor = sf.zeros((3, 100))
        copies = [tensor.numpy(), np.from_dlpack(tensor, device="cpu"), sf.zeros((0, 2)).numpy()]
        assert [copy.shape for copy in copies] == [(3, 100), (3, 100), (0, 2)]
        assert all((copy == 0).all() and copy.flags.writeable for copy in copies)
        assert all(copy.__array_interface__["data"][0] % 256 == 0 for copy in copies[:2])
        assert sf.live()["lent"] == 3
        copies[0][:] = 5
        assert (copies[1] == 0).all() and (tensor.numpy() == 0).all()
        del copies[0]
        assert sf.live()["lent"] == 2
        del copies
        assert sf.live()["lent"] == 0
    """)


def test_a_tensor_comes_back():
    on_the_fake("""
        tensor = sf.zeros(100)
        back = sf.from_dlpack(sf.from_dlpack(tensor))
        assert back.__dlpack_device__() == (2, 0)
        assert (back.numpy() == 0).all()
    """)


def test_the_streams_of_consumers():
    on_the_fake("""
        tensor = sf.zeros(100)
        for stream in [None, 1, -1, sf.Stream().handle, sf.Stream()]:
            for version in [None, (1, 0)]:
                for copy in [None, True]:
                    tensor.__dlpack__(stream=stream, max_version=version, copy=copy)
        for stream in [0, -2]:
            try:
                tensor.__dlpack__(stream=stream)
                raise AssertionError(stream)
            except ValueError as error:
                assert "names no stream" in str(error)
    """)


def test_the_cuda_array_interface():
    on_the_fake("""
        class Array:
            def __init__(self, tensor):
                self.tensor = tensor
                self.__cuda_array_interface__ = tensor.__cuda_array_interface__
        tensor = sf.zeros((2, 3), np.int64)
        shown = [tensor.__cuda_array_interface__ for _ in range(2)]
        assert shown[0] == shown[1] and shown[0]["stream"] == tensor.stream.handle
        back = sf.as_tensor(Array(tensor))
        assert (back.numpy() == 0).all() and back.dtype == "int64"
        try:
            tensor.__array_interface__
            raise AssertionError
        except AttributeError as error:
            assert "tensor.numpy()" in str(error)
    """)


def test_an_exchange_costs_few_calls_of_the_driver(tmp_path):
    # Each call of the driver costs about a microsecond on a GPU. The producer in this test makes none.
    on_the_fake("""
        import os
        from capsules import Managed, Producer, ones

        def calls(what):
            '''The calls of CUDA that the fifth of five takes.'''
            for _ in range(5):
                kept.append(None)
                begin = os.path.getsize(log)
                kept[-1] = what()
            with open(log) as lines:
                lines.seek(begin)
                return [line.split()[1] for line in lines if line.startswith("call ")]

        log, kept = os.environ["STREAMFLOW_FAKE_CUDA_LOG"], []
        stream, theirs = sf.Stream(), sf.Stream()
        array = Producer(lambda **_: Managed(ones(4), kind=2).capsule(), (2, 0))
        tensor = sf.zeros(4, stream=stream)
        into = calls(lambda: sf.from_dlpack(array, stream=stream))
        # The producer needs the current device. The stream is recorded, since the array's own stream may end.
        assert into == ["cuCtxGetCurrent", "cuEventRecord"], into
        out = calls(lambda: tensor.__dlpack__(stream=theirs.handle, max_version=(1, 0)))
        ordered = ["cuEventRecord", "cuStreamWaitEvent"]
        noted = ["cuCtxGetCurrent", "cuEventRecord"]
        assert out == ["cuCtxGetCurrent", "cuStreamWaitEvent", *ordered, *noted], out
    """, STREAMFLOW_FAKE_CUDA_LOG=str(tmp_path / "log"))
