"""Bad input: each exception says what to write. What needs a GPU is in `fake_gpu/rows.py`."""

import subprocess
import sys

import numpy as np
import pytest
import simulator
from capsules import Managed, Producer, of, ones

import streamflow as sf


def run(code):
    """Runs a program in an interpreter of its own, beside this file."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=__file__.rpartition("/")[0]
    )


@pytest.mark.parametrize("dtype", ["U3", "S3", "datetime64[s]", "longdouble", object], ids=str)
def test_elements_of_another_type(dtype):
    array = np.zeros(3, dtype)
    for import_ in (simulator.from_dlpack, simulator.as_tensor):
        # NumPy itself refuses most of these types.
        with pytest.raises((TypeError, BufferError)) as raised:
            import_(array)
        assert len(str(raised.value)) > 10
    interface = type("Only", (), {"__array_interface__": array.__array_interface__})()
    with pytest.raises(TypeError, match="convert them"):
        simulator.as_tensor(interface)


def test_elements_of_the_other_byte_order():
    with pytest.raises(TypeError, match=r"other byte order.*\.astype\(\"f4\"\)"):
        simulator.as_tensor(type("Only", (), {"__array_interface__": np.zeros(3, ">f4").__array_interface__})())


def test_memory_of_another_device():
    with pytest.raises(BufferError, match="its memory is on CUDA device 1.*copy it to a device of the platform"):
        simulator.from_dlpack(of(Managed(ones(3), kind=2, id=1)), stream=sf.Stream(sf.Platform("host")))
    with pytest.raises(BufferError, match="device 3 of DLPack's type 10"):
        simulator.from_dlpack(of(Managed(ones(3), kind=10, id=3)))


@pytest.mark.parametrize("array", [ones(4, 4).T[1:], ones(4, 4)[:, ::2], ones(4)[::-1], np.broadcast_to(np.float32(1), (3, 3))])
def test_layouts_that_are_not_dense(array):
    for name in ("from_dlpack", "as_tensor"):
        with pytest.raises(BufferError, match="numpy.ascontiguousarray"):
            getattr(simulator, name)(array)
    with pytest.raises(BufferError, match="numpy.ascontiguousarray"):
        simulator.as_tensor(type("Only", (), {"__array_interface__": array.__array_interface__, "keep": array})())


def test_shapes_that_no_memory_has():
    with pytest.raises(BufferError, match=r"its shape is \[-3\].*its exporter is wrong"):
        managed = Managed(ones(3))
        managed.shape[0] = -3
        simulator.from_dlpack(of(managed))
    with pytest.raises(BufferError, match="it has 9 dimensions.*at most 8"):
        simulator.from_dlpack(np.ones((1,) * 9, np.float32))
    with pytest.raises(ValueError, match="at most 8"):
        simulator.zeros((1,) * 9)


def test_a_read_only_tensor_for_a_writer():
    array = ones(3)
    array.flags.writeable = False
    tensor = simulator.from_dlpack(array)
    with pytest.raises(BufferError, match=r"can't say so.*max_version=\(1, 0\)"):
        tensor.__dlpack__()
    with pytest.raises(ValueError, match="read-only"):
        np.from_dlpack(tensor)[0] = 1
    # A copy of a read-only tensor may be written.
    np.from_dlpack(tensor, copy=True)[0] = 1
    assert array[0] == 1


def test_a_tensor_that_requires_a_gradient():
    """PyTorch's text is passed on, whatever function was called."""
    text = "Can't export tensors that require gradient, use tensor.detach()"

    def refuse(**_):
        raise BufferError(text)

    for import_ in (simulator.from_dlpack, simulator.as_tensor):
        with pytest.raises(BufferError, match=r"tensor\.detach\(\)"):
            import_(Producer(refuse))


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_used_twice(version):
    capsule = simulator.zeros(3).__dlpack__(max_version=version)
    np.from_dlpack(Producer(lambda **_: capsule))
    with pytest.raises(ValueError, match=r"used already; call `__dlpack__\(\)` again"):
        simulator.from_dlpack(Producer(lambda **_: capsule))


def test_a_stream_of_another_platform():
    a, b = (sf.Stream(sf.Platform("host")) for _ in range(2))
    with pytest.raises((sf.Error, ValueError, BufferError)) as raised:
        a.wait(b)
    assert "platform" in str(raised.value)


@pytest.mark.parametrize("ending", [
    "", "import sys; sys.exit(0)", "raise KeyboardInterrupt", "import os; os._exit(0)",
    "import threading; stream = sf.Stream(sf.Platform('host')); "
    "threading.Thread(target=lambda: [sf.zeros(10, stream=stream).numpy() for _ in range(1000)], daemon=True).start()",
    # Until Python ends the threads, which unwinds them: an unwinder of the module's own would not know that of the C library.
    "import threading; used = sf.Stream(sf.Platform('host')); calls = threading.Semaphore(0)\n"
    "def forever():\n"
    "    while True:\n"
    "        sf.zeros(10, stream=used).numpy(); calls.release()\n"
    "for _ in range(8): threading.Thread(target=forever, daemon=True).start()\n"
    "for _ in range(100): calls.acquire()",
])
def test_the_interpreter_ends_while_work_is_queued(ending):
    ended = run(
        "import numpy as np, streamflow as sf\n"
        "from capsules import *\n"
        "streams = [sf.Stream(sf.Platform('host', seed=seed)) for seed in range(8)]\n"
        "tensors = [sf.zeros(1000, stream=stream) for stream in streams]\n"
        "kept = [tensor.__dlpack__() for tensor in tensors]\n"
        "theirs = [sf.from_dlpack(of(Managed(ones(10))), stream=stream) for stream in streams]\n"
        "copies = [tensor.__dlpack__(copy=True) for tensor in theirs]\n"
        "streams.clear()\n"
        "print('end', flush=True)\n" + ending
    )
    interrupted = "Keyboard" in ending
    assert ended.stdout == "end\n", ended
    assert ended.returncode == (-2 if interrupted else 0), ended
    assert interrupted or ended.stderr == "", ended.stderr
