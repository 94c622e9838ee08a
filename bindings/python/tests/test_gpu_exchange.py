"""DLPack's C exchange API and foreign streams on a GPU, in order: a slow kernel on a non-blocking stream, and a control
without the order. CuPy launches the kernels of the library that is played."""

import time

import numpy as np
import pytest
from exchange import borrowed, delete, imported, managed, work_stream

import streamflow as sf

if sf.default_platform().name != "cuda":
    pytest.skip("needs a GPU: " + sf.default_platform().why, allow_module_level=True)
cupy = pytest.importorskip("cupy")

CUDA = 2
ROUNDS = 20
LEN = 1 << 16
CYCLES = 100_000_000
SPIN = cupy.RawKernel(
    r"""
    extern "C" __global__ void spin(const float* in, float* out, long long cycles, float value, int n) {
        long long start = clock64();
        while (clock64() - start < cycles) {}
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = in[i] + value;
    }
    """,
    "spin",
)


def external(handle):
    """The stream of a handle, for CuPy."""
    if hasattr(cupy.cuda.Stream, "from_external"):
        return cupy.cuda.Stream.from_external(Handle(handle))
    return cupy.cuda.ExternalStream(handle)


class Handle:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


def add(stream, source, target, value, cycles=CYCLES):
    """The kernel of a library: writes the source and a value to the target, after about 50 ms."""
    with stream:
        arguments = (source, target, np.int64(cycles), np.float32(value), np.int32(LEN))
        SPIN((LEN // 256,), (256,), arguments)


def array(plain):
    """The array at the address that a library in C got."""
    memory = cupy.cuda.UnownedMemory(plain.data, LEN * 4, None)
    return cupy.ndarray((LEN,), cupy.float32, cupy.cuda.MemoryPointer(memory, 0))


def warm():
    zeros = cupy.zeros(LEN, cupy.float32)
    add(cupy.cuda.Stream(non_blocking=True), zeros, zeros, 0.0, 0)
    cupy.cuda.Device().synchronize()


def right(ordered):
    """How many rounds had right data, and the longest exchange in seconds: a library reads what a slow producer has
    written, writes it back slowly, and streamflow reads that. The library works on the stream that it should, or on one
    of its own."""
    warm()
    producer = cupy.cuda.Stream(non_blocking=True)
    alone = cupy.cuda.Stream(non_blocking=True)
    count, longest = 0, 0.0
    stream = sf.Stream()
    for value in range(1, ROUNDS + 1):
        source = cupy.zeros(LEN, cupy.float32)
        cupy.cuda.Device().synchronize()
        add(producer, source, source, value)
        with producer:
            tensor = sf.from_dlpack(source, stream=stream)
        begun = time.perf_counter()
        theirs = array(borrowed(tensor))
        on = external(work_stream(CUDA)) if ordered else alone
        longest = max(longest, time.perf_counter() - begun)
        add(on, theirs, theirs, 1000)
        count += bool((tensor.numpy() == value + 1000).all())
        cupy.cuda.Device().synchronize()
        del tensor
    return count, longest


def test_the_work_of_a_library_on_the_work_stream_is_ordered_in_both_directions():
    count, longest = right(ordered=True)
    assert count == ROUNDS and longest < 2e-3, (count, longest)


def test_the_work_of_a_library_control():
    count, _ = right(ordered=False)
    assert count < ROUNDS, "inconclusive: without the order the data was right"


def early(ordered):
    """As `right`, for a library that asks for the stream first and works on one of its own that waits for that."""
    warm()
    producer = cupy.cuda.Stream(non_blocking=True)
    own = cupy.cuda.Stream(non_blocking=True)
    count = 0
    stream = sf.Stream()
    for value in range(1, ROUNDS + 1):
        source, target = cupy.zeros(LEN, cupy.float32), cupy.zeros(LEN, cupy.float32)
        cupy.cuda.Device().synchronize()
        add(producer, source, source, value)
        with producer:
            tensor = sf.from_dlpack(source, stream=stream)
        if ordered:
            own.wait_event(external(work_stream(CUDA)).record())
        out = managed(tensor)
        add(own, array(out.contents.tensor), target, 0.0, 0)
        count += bool((cupy.asnumpy(target, stream=own) == value).all())
        delete(out)
        cupy.cuda.Device().synchronize()
    return count


def test_a_library_that_asks_for_the_stream_first_is_ordered():
    assert early(ordered=True) == ROUNDS


def test_a_library_that_asks_for_the_stream_first_control():
    assert early(ordered=False) < ROUNDS, "inconclusive: without the order the data was right"


def test_memory_is_freed_after_the_work_of_a_library_that_borrowed_it():
    warm()
    on = external(work_stream(CUDA))
    for value in range(1, ROUNDS + 1):
        tensor = sf.zeros(LEN)
        target = cupy.zeros(LEN, cupy.float32)
        cupy.cuda.Device().synchronize()
        add(on, array(borrowed(tensor)), target, value)
        del tensor
        others = [sf.empty(LEN) for _ in range(8)]
        poison = cupy.cuda.Stream(non_blocking=True)
        with poison:
            for other in others:
                cupy.from_dlpack(other).fill(-1)
        assert (cupy.asnumpy(target, stream=on) == value).all()
        del others


def test_a_result_comes_after_the_work_of_its_library():
    warm()
    on = external(work_stream(CUDA))
    for value in range(1, ROUNDS + 1):
        result = sf.zeros(LEN)
        add(on, array(borrowed(result)), array(borrowed(result)), value)
        tensor = imported(managed(result))
        assert (tensor.numpy() == value).all()


def test_tvm_ffi_passes_and_returns_tensors():
    tvm_ffi = pytest.importorskip("tvm_ffi")
    tensor = sf.zeros(LEN)
    result = tvm_ffi.convert(lambda it: it)(tensor)
    assert isinstance(result, sf.Tensor) and result.__dlpack_device__() == tensor.__dlpack_device__()
    with external(sf.work_stream().handle):
        theirs = cupy.from_dlpack(tensor)
        theirs += 3
    assert (result.numpy() == 3).all()


# ---- streams ------------------------------------------------------------------------------------


def cupys():
    return cupy.cuda.Stream(non_blocking=True)


def torchs():
    return pytest.importorskip("torch").cuda.Stream()


def numbas():
    return pytest.importorskip("numba.cuda").stream()


def cuda_cores():
    core = pytest.importorskip("cuda.core")
    here = core.Device()
    here.set_current()
    return here.create_stream()


def rmms():
    return pytest.importorskip("rmm.pylibrmm.stream").Stream()


def cvcudas():
    return pytest.importorskip("cvcuda").Stream()


LIBRARIES = [cupys, torchs, numbas, cuda_cores, rmms, cvcudas]


@pytest.mark.parametrize("make", LIBRARIES)
def test_a_stream_of_another_library_is_used_and_ordered(make):
    theirs = make()
    warm()
    adopted = sf.Stream.from_external(theirs)
    assert adopted.device == 0 and adopted.handle > 2
    own = sf.Stream()
    on = external(adopted.handle)
    for value in range(1, ROUNDS + 1):
        source = cupy.zeros(LEN, cupy.float32)
        cupy.cuda.Device().synchronize()
        # streamflow does not see the library's work, which is ordered by the stream.
        add(on, source, source, value)
        own.wait(adopted if value % 2 else theirs)
        copy = cupy.empty_like(source)
        add(external(own.handle), source, copy, 0.0, 0)
        assert (cupy.asnumpy(copy, stream=external(own.handle)) == value).all()


@pytest.mark.parametrize("make", LIBRARIES)
def test_a_stream_of_another_library_control(make):
    theirs = sf.Stream.from_external(make())
    warm()
    own, wrong = cupy.cuda.Stream(non_blocking=True), 0
    for value in range(1, ROUNDS + 1):
        source = cupy.zeros(LEN, cupy.float32)
        cupy.cuda.Device().synchronize()
        add(external(theirs.handle), source, source, value)
        copy = cupy.empty_like(source)
        add(own, source, copy, 0.0, 0)
        wrong += not (cupy.asnumpy(copy, stream=own) == value).all()
        cupy.cuda.Device().synchronize()
    assert wrong > 0, "inconclusive: without the wait the data was right"


def in_torch(stream):
    torch = pytest.importorskip("torch")
    with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
        return torch.cuda.current_stream().cuda_stream


def in_cupy(stream):
    with external(stream.handle):
        return cupy.cuda.get_current_stream().ptr


def in_numba(stream):
    theirs = pytest.importorskip("numba.cuda").external_stream(stream.handle).handle
    return getattr(theirs, "value", theirs)


def in_cuda_core(stream):
    core = pytest.importorskip("cuda.core")
    here = core.Device()
    here.set_current()
    return int(here.create_stream(stream).handle)


def in_rmm(stream):
    rmm = pytest.importorskip("rmm.pylibrmm.stream")
    return rmm.Stream(stream).__cuda_stream__()[1]


def in_cvcuda(stream):
    return pytest.importorskip("cvcuda").as_stream(stream.handle).handle


@pytest.mark.parametrize("use", [in_torch, in_cupy, in_numba, in_cuda_core, in_rmm, in_cvcuda])
def test_a_stream_of_streamflow_is_used_by_another_library(use):
    stream = sf.Stream()
    assert int(use(stream)) == stream.handle


def test_events_of_other_libraries_are_waited_for():
    warm()
    producer, own = cupys(), sf.Stream()
    source, copy = cupy.zeros(LEN, cupy.float32), cupy.zeros(LEN, cupy.float32)
    cupy.cuda.Device().synchronize()
    add(producer, source, source, 8)
    own.wait(producer.record())
    add(external(own.handle), source, copy, 0.0, 0)
    assert (cupy.asnumpy(copy, stream=external(own.handle)) == 8).all()
    torch = pytest.importorskip("torch")
    event = torch.cuda.Event()
    with pytest.raises(ValueError, match="never recorded"):
        own.wait(event)
    event.record(torch.cuda.Stream())
    own.wait(event)
    own.synchronize()


def test_the_default_stream_of_torch_is_asked_for_by_name():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"Stream\.default\(device=0\)"):
        sf.Stream.from_external(torch.cuda.default_stream())
    default = sf.Stream.default()
    default.wait(sf.Stream())
    default.synchronize()


def test_times_of_seed_003_on_cupys_stream_and_on_ours():
    warm()
    theirs, ours = cupys(), sf.Stream()
    zeros = cupy.zeros(LEN, cupy.float32)
    adopted = sf.Stream.from_external(theirs)
    start = adopted.record(timing=True)
    add(theirs, zeros, zeros, 1)
    end = adopted.record(timing=True)
    # CuPy's own events are recorded on a stream of streamflow.
    begin, stop = cupy.cuda.Event(), cupy.cuda.Event()
    on = external(ours.handle)
    begin.record(on)
    add(on, zeros, zeros, 1)
    stop.record(on)
    stop.synchronize()
    by_them = cupy.cuda.get_elapsed_time(begin, stop)
    by_us = start.elapsed_time(end)
    assert by_us > 1 and by_them > 1
