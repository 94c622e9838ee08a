"""Exchanges with libraries on a GPU: a slow kernel on a non-blocking stream, and a control without the order. Each library
that is not installed is skipped."""

import time

import numpy as np
import pytest

import streamflow as sf

if sf.default_platform().name != "cuda":
    pytest.skip("needs a GPU: " + sf.default_platform().why, allow_module_level=True)
cupy = pytest.importorskip("cupy")

ROUNDS = 20
LEN = 1 << 16
SPIN = cupy.RawKernel(
    r"""
    extern "C" __global__ void spin(float* out, long long cycles, float value, int n) {
        long long start = clock64();
        while (clock64() - start < cycles) {}
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = value;
    }
    """,
    "spin",
)
CYCLES = 100_000_000


class Unordered:
    """An array whose producer orders nothing."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**{**arguments, "stream": -1})

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def slow(stream, array, value):
    """Writes a value after about 50 ms."""
    with stream:
        SPIN((LEN // 256,), (256,), (array, np.int64(CYCLES), np.float32(value), np.int32(LEN)))


def made():
    array = cupy.zeros(LEN, cupy.float32)
    cupy.cuda.Device().synchronize()
    return array


def imports(wrap):
    """How many rounds had right data, and the longest hand-over in seconds."""
    producer = cupy.cuda.Stream(non_blocking=True)
    slow(producer, made(), 0.0)
    right, longest = 0, 0.0
    stream = sf.Stream()
    sf.from_dlpack(made(), stream=stream)
    for value in range(1, ROUNDS + 1):
        array = made()
        slow(producer, array, value)
        begun = time.perf_counter()
        with producer:
            tensor = sf.from_dlpack(wrap(array), stream=stream)
        longest = max(longest, time.perf_counter() - begun)
        right += bool((tensor.numpy() == value).all())
        producer.synchronize()
    return right, longest


def test_an_import_comes_after_the_producer():
    right, longest = imports(lambda array: array)
    assert right == ROUNDS and longest < 2e-3, (right, longest)


def test_an_import_comes_after_the_producer_control():
    right, _ = imports(Unordered)
    assert right < ROUNDS, "inconclusive: without the order the data was right"


def exports(read, wrap):
    """As `imports`, for a tensor whose content is not written yet when it is exported."""
    producer = cupy.cuda.Stream(non_blocking=True)
    slow(producer, made(), 0.0)
    right, longest = 0, 0.0
    stream = sf.Stream()
    read(sf.from_dlpack(made(), stream=stream))
    for value in range(1, ROUNDS + 1):
        array = made()
        slow(producer, array, value)
        with producer:
            tensor = sf.from_dlpack(array, stream=stream)
        begun = time.perf_counter()
        result = read(wrap(tensor))
        longest = max(longest, time.perf_counter() - begun)
        right += bool((result() == value).all())
        producer.synchronize()
    return right, longest


def by_cupy():
    consumer = cupy.cuda.Stream(non_blocking=True)

    def read(tensor):
        with consumer:
            theirs = cupy.from_dlpack(tensor)
            copy = theirs.copy()
        return lambda: cupy.asnumpy(copy, stream=consumer)

    return read


def by_torch():
    torch = pytest.importorskip("torch")
    consumer = torch.cuda.Stream()

    def read(tensor):
        with torch.cuda.stream(consumer):
            copy = torch.from_dlpack(tensor).clone()

        def result():
            consumer.synchronize()
            return copy.cpu().numpy()

        return result

    return read


def by_interface():
    consumer = cupy.cuda.Stream(non_blocking=True)

    def read(tensor):
        with consumer:
            copy = cupy.asarray(tensor).copy()
        return lambda: cupy.asnumpy(copy, stream=consumer)

    return read


@pytest.mark.parametrize("library", [by_cupy, by_torch])
def test_an_export_comes_after_its_writer(library):
    right, longest = exports(library(), lambda tensor: tensor)
    assert right == ROUNDS and longest < 2e-3, (right, longest)


@pytest.mark.parametrize("library", [by_cupy, by_torch])
def test_an_export_comes_after_its_writer_control(library):
    right, _ = exports(library(), Unordered)
    assert right < ROUNDS, "inconclusive: without the order the data was right"


def test_the_cuda_array_interface_is_ordered():
    # CuPy blocks the host until the stream is complete, so the time of the hand-over is not checked.
    right, _ = exports(by_interface(), lambda tensor: tensor)
    assert right == ROUNDS


def test_pointers_are_equal_in_both_directions():
    array = made()
    tensor = sf.from_dlpack(array)
    back = cupy.from_dlpack(tensor)
    assert back.data.ptr == array.data.ptr
    own = sf.zeros(LEN)
    theirs = cupy.from_dlpack(own)
    theirs += 1
    cupy.cuda.Device().synchronize()
    assert (own.numpy() == 1).all()
    assert cupy.asarray(own).data.ptr == theirs.data.ptr


def test_memory_lives_until_the_work_of_the_other_library_is_complete():
    consumer = cupy.cuda.Stream(non_blocking=True)
    for value in range(1, ROUNDS + 1):
        tensor = sf.from_dlpack(cupy.full(LEN, value, cupy.float32))
        own = sf.zeros(LEN, stream=tensor.stream)
        with consumer:
            theirs = cupy.from_dlpack(own)
            theirs += value
            slow(consumer, made(), 0.0)
            copy = theirs.copy()
        del theirs, own, tensor
        others = [sf.zeros(LEN) for _ in range(8)]
        assert (cupy.asnumpy(copy, stream=consumer) == value).all()
        del others


def test_an_imported_array_lives_until_our_work_is_complete():
    for value in range(1, ROUNDS + 1):
        array = made()
        array += value
        tensor = sf.from_dlpack(array)
        del array
        copy = cupy.from_dlpack(tensor).copy()
        del tensor
        assert (copy == value).all()


def test_streams_of_streamflow_work_in_other_libraries():
    stream = sf.Stream()
    theirs = cupy.cuda.Stream.from_external(stream) if hasattr(
        cupy.cuda.Stream, "from_external"
    ) else cupy.cuda.ExternalStream(stream.handle)
    assert theirs.ptr == stream.handle
    tensor = sf.zeros(LEN, stream=stream)
    with theirs:
        array = cupy.from_dlpack(tensor)
        array += 5
    assert (tensor.numpy() == 5).all()
    torch = pytest.importorskip("torch")
    with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
        view = torch.from_dlpack(tensor)
        view += 1
    assert (tensor.numpy() == 6).all()


def test_what_torch_refuses_is_passed_on():
    torch = pytest.importorskip("torch")
    with pytest.raises(BufferError, match="grad"):
        sf.from_dlpack(torch.ones(3, device="cuda", requires_grad=True))
    back = sf.from_dlpack(torch.ones(3, device="cuda"))
    assert (back.numpy() == 1).all()
