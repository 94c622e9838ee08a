"""Streams, events and DLPack's C exchange API on CUDA, without another library. They need a GPU, or the `libcuda` of the
tests (`tests/fake_cuda`), which executes no kernel: `STREAMFLOW_FAKE_CUDA` names its folder (see `.ci/run python`)."""

import ctypes
import gc
import os
import time

import pytest
from exchange import allocated, borrowed, delete, imported, managed, work_stream

import streamflow as sf

if sf.default_platform().name != "cuda":
    pytest.skip("needs a GPU: " + sf.default_platform().why, allow_module_level=True)

CUDA = 2
IS_FAKE = bool(os.environ.get("STREAMFLOW_FAKE_CUDA"))


def libcuda():
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ctypes.CDLL("libcuda.so")


class WithProtocol:
    def __init__(self, handle):
        self.handle_of_it = handle

    def __cuda_stream__(self):
        return (0, self.handle_of_it)


class Event:
    def __init__(self, ptr):
        self.ptr = ptr


@pytest.fixture
def theirs():
    """A stream that plays another library's."""
    return sf.Stream(sf.Platform("cuda"))


def test_the_work_stream_is_one_for_each_gpu():
    handle = work_stream(CUDA)
    # The handle NULL would mean the legacy default stream.
    assert handle > 2 and handle == work_stream(CUDA) == sf.work_stream().handle
    assert work_stream(13) == handle and work_stream(1) is None and work_stream(3) is None
    with pytest.raises(BufferError, match="no work stream for CUDA device 99"):
        work_stream(CUDA, 99)


def test_exports_and_imports_share_the_memory_and_the_work_stream():
    tensor = sf.zeros((2, 3), "int32")
    out = managed(tensor)
    assert (out.contents.tensor.device.kind, out.contents.tensor.device.id) == tensor.__dlpack_device__()
    assert borrowed(tensor).data == out.contents.tensor.data
    back = imported(out)
    assert (back.shape, back.dtype) == ((2, 3), "int32")
    assert back.stream.handle == work_stream(CUDA)
    assert (back.numpy() == 0).all() and (tensor.numpy() == 0).all()


def test_tensors_of_another_platform_are_exchanged(theirs):
    tensor = sf.zeros(8, stream=theirs)
    for _ in range(3):
        assert borrowed(tensor).data
        delete(managed(tensor))
        work_stream(CUDA)
    assert (tensor.numpy() == 0).all()


def test_the_allocator_makes_tensors_on_the_gpu():
    out = allocated((4,), device=(CUDA, 0))
    tensor = imported(out)
    assert tensor.__dlpack_device__() == (CUDA, 0)
    del tensor
    kind, text = allocated((4,), device=(CUDA, 99))
    assert kind == "BufferError" and "CUDA device 99" in text
    kind, text = allocated((4,), device=(1, 0))
    assert kind == "BufferError" and "needs a copy" in text


def test_memory_comes_back_after_each_exchange():
    for _ in range(20):
        tensor = sf.zeros(64)
        delete(managed(tensor))
        borrowed(tensor)
        imported(managed(tensor))
        del tensor
    gc.collect()
    end = time.monotonic() + 10
    while sf.live()["lent"] or sf.live()["adopted"]:
        assert time.monotonic() < end, sf.live()
        time.sleep(0.001)


def test_a_stream_of_another_library_is_adopted_by_its_handle(theirs):
    for form in (theirs.handle, ctypes.c_void_p(theirs.handle), WithProtocol(theirs.handle)):
        adopted = sf.Stream.from_external(form)
        assert (adopted.handle, adopted.device) == (theirs.handle, 0)
        assert adopted.__cuda_stream__() == (0, theirs.handle)
        tensor = sf.zeros(16, stream=adopted)
        assert tensor.stream.handle == theirs.handle and (tensor.numpy() == 0).all()
        adopted.synchronize()
        assert adopted.query()
        del adopted, tensor


def test_the_owner_of_an_adopted_stream_is_kept(theirs):
    class Owner(WithProtocol):
        dropped = False

        def __del__(self):
            Owner.dropped = True

    adopted = sf.Stream.from_external(Owner(theirs.handle))
    gc.collect()
    assert not Owner.dropped
    event = adopted.record()
    del adopted
    gc.collect()
    assert not Owner.dropped, "an event keeps its stream"
    event.synchronize()
    del event
    gc.collect()
    assert Owner.dropped


def test_the_device_of_a_handle_is_found():
    if sf.default_platform().device_count < 2:
        pytest.skip("needs two GPUs")
    far = sf.Stream(device=1)
    assert sf.Stream.from_external(far.handle).device == 1


def test_a_destroyed_handle_is_an_error_where_the_driver_finds_it_out():
    if not IS_FAKE:
        pytest.skip("a destroyed handle is undefined behaviour of CUDA, which the libcuda of the tests finds out")
    with pytest.raises(ValueError, match="0xdead0 is the handle of no stream: it may be destroyed"):
        sf.Stream.from_external(0xDEAD0)


def test_a_stream_of_another_context_is_refused():
    cuda = libcuda()
    if not hasattr(cuda, "cuCtxCreate_v2"):
        pytest.skip("the libcuda of the tests has no contexts of its own")
    context, stream = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    try:
        with pytest.raises(ValueError, match="not the primary one.*cuDevicePrimaryCtxRetain"):
            sf.Stream.from_external(stream.value)
    finally:
        cuda.cuStreamDestroy_v2(stream)
        cuda.cuCtxDestroy_v2(context)


def test_streams_and_events_of_other_code_are_waited_for(theirs):
    stream = sf.Stream()
    stream.wait(WithProtocol(theirs.handle))
    stream.precede(theirs.handle)
    for default in (0, 1):
        stream.wait(WithProtocol(default))
        stream.precede(default)
    with pytest.raises(ValueError, match="handle 2"):
        stream.precede(2)
    cuda = libcuda()
    event = ctypes.c_void_p()
    assert cuda.cuEventCreate(ctypes.byref(event), 2) == 0
    assert cuda.cuEventRecord(event, ctypes.c_void_p(theirs.handle)) == 0
    stream.wait(Event(event.value))
    stream.synchronize()
    assert cuda.cuEventDestroy_v2(event) == 0


def test_times_between_events_of_adopted_streams(theirs):
    adopted, own = sf.Stream.from_external(theirs.handle), sf.Stream()
    start = adopted.record(timing=True)
    sf.zeros(1 << 20, stream=adopted)
    middle = adopted.record(timing=True)
    own.wait(middle)
    end = own.record(timing=True)
    assert start.elapsed_time(middle) > 0
    with pytest.raises(sf.Error):
        # `theirs` is a stream of another platform.
        start.elapsed_time(theirs.record(timing=True))
    assert middle.elapsed_time(end) >= 0


