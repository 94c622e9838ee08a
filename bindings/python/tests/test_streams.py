"""Streams, threads and the end of the interpreter."""

import inspect
import subprocess
import sys
import threading

import numpy as np
import pytest
import simulator
from conftest import is_back

import streamflow as sf


def run(code):
    """Runs a program in an interpreter of its own, beside this file."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=__file__.rpartition("/")[0]
    )


def test_streams_wait_for_events_and_streams(stream):
    platform = sf.Platform("host")
    a, b = sf.Stream(platform), sf.Stream(platform)
    b.wait(a.record())
    b.wait(a)
    b.synchronize()
    assert a.query() and b.query() and a.device == 0
    with pytest.raises(TypeError, match="streamflow.Event"):
        b.wait(3)
    with pytest.raises(sf.Error):
        stream.wait(a)


@pytest.mark.parametrize("what", ["stream", "event"])
def test_the_host_waits_for_a_stream_and_an_event(what):
    unfinished = []
    for seed in range(8):
        stream = sf.Stream(sf.Platform("host", seed=seed))
        tensors = [simulator.zeros(1000, stream=stream) for _ in range(4)]
        waited = stream if what == "stream" else stream.record()
        unfinished.append(not waited.query())
        waited.synchronize()
        assert waited.query()
        del tensors
    assert any(unfinished), "under each seed the work was complete by itself: the test has no power"


def test_a_stream_of_the_simulator_has_no_cuda_handle(stream):
    for name in ("handle", "ptr", "cuda_stream"):
        with pytest.raises(RuntimeError, match="no CUDA handle"):
            getattr(stream, name)
    with pytest.raises(RuntimeError, match="no CUDA handle"):
        stream.__cuda_stream__()


def test_devices_and_platforms_that_do_not_exist():
    with pytest.raises(ValueError, match="device 7"):
        sf.Stream(sf.Platform("host"), device=7)
    with pytest.raises(ValueError, match='"detect", "cuda" or "host"'):
        sf.Platform("tpu")
    with pytest.raises(ValueError, match="seed"):
        sf.Platform("detect", seed=3)


@pytest.mark.parametrize("seed", range(8))
def test_memory_is_shared_under_each_seed(seed):
    stream = sf.Stream(sf.Platform("host", seed=seed))
    tensor = simulator.zeros((3, 3), stream=stream)
    array = np.from_dlpack(tensor)
    assert (array == 0).all()
    array[:] = 5
    assert (np.from_dlpack(tensor, copy=True) == 5).all()


def test_shapes_that_are_not_right():
    with pytest.raises(ValueError, match="at most 8"):
        simulator.zeros((1,) * 9)
    with pytest.raises(ValueError, match="overflows"):
        simulator.zeros((2**62, 2**62))
    for shape in [-1, (2, -1), "ab", 1.5]:
        with pytest.raises(TypeError, match="`shape`"):
            simulator.zeros(shape)
    assert len(simulator.zeros((4, 2))) == 4
    with pytest.raises(TypeError):
        len(simulator.zeros(()))


def test_threads_exchange_memory_and_nothing_is_left():
    before = sf.live()
    errors = []

    def work(number):
        try:
            for _ in range(200):
                tensor = simulator.zeros(64)
                array = np.from_dlpack(tensor)
                array[:] = number
                back = simulator.from_dlpack(array)
                del tensor, array
                assert (back.numpy() == number).all()
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)
    assert is_back("adopted", before["adopted"]) and is_back("lent", before["lent"])
    assert sf.live()["leaked"] == before["leaked"]


def test_an_owner_may_call_streamflow_when_it_gets_its_memory_back():
    before, results = sf.live()["adopted"], []

    class Array(np.ndarray):
        def __del__(self):
            if self.base is None or isinstance(self.base, np.ndarray):
                results.append(simulator.zeros(3).numpy().tolist())

    tensor = simulator.from_dlpack(np.zeros(10).view(Array))
    del tensor
    assert is_back("adopted", before)
    assert [0.0, 0.0, 0.0] in results


def test_the_interpreter_ends_while_memory_is_on_both_sides():
    ended = run(
        "import numpy as np, simulator\n"
        "kept = [simulator.from_dlpack(np.zeros(1000)) for _ in range(50)]\n"
        "arrays = [np.from_dlpack(simulator.zeros(1000)) for _ in range(50)]\n"
        "capsules = [simulator.zeros(3).__dlpack__() for _ in range(50)]\n"
        "shown = [np.asarray(simulator.zeros(3)) for _ in range(50)]\n"
        "import atexit; atexit.register(lambda: (kept.clear(), arrays.clear()))\n"
        "print('end')"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")


def test_what_returns_after_the_end_is_counted():
    ended = run(
        "import numpy as np, streamflow as sf, simulator, time\n"
        "from streamflow import _streamflow\n"
        "tensor = simulator.from_dlpack(np.zeros(1000))\n"
        "_streamflow._stop()\n"
        "del tensor\n"
        "end = time.monotonic() + 10\n"
        "while sf.live()['leaked'] == 0 and time.monotonic() < end: pass\n"
        "print(sf.live()['leaked'], sf.live()['adopted'])"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1 0\n", "")


def test_each_public_name_is_documented():
    for name in sf.__all__:
        item = getattr(sf, name)
        assert inspect.getdoc(item), name
        if inspect.isclass(item):
            for method, value in vars(item).items():
                if not method.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{method}"
