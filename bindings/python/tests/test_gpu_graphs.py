"""The order at the ports of a graph on a GPU: slow kernels on non-blocking streams, and controls without the order."""

import time

import numpy as np
import pytest

import streamflow as sf
from streamflow.demo import Scale

if sf.default_platform().name != "cuda":
    pytest.skip("needs a GPU: " + sf.default_platform().why, allow_module_level=True)
cupy = pytest.importorskip("cupy")

from test_gpu import ROUNDS, Unordered, made, slow  # noqa: E402


def pushes(wrap):
    """Pushes arrays that a slow kernel still writes. Returns how many results were right, and the longest push and take
    in seconds."""
    producer = cupy.cuda.Stream(non_blocking=True)
    consumer = cupy.cuda.Stream(non_blocking=True)
    scale = Scale(factor=2.0)
    right, longest = 0, 0.0
    with scale.spawn():
        # The first round compiles all kernels, so it is not measured.
        slow(producer, made(), 0.0)
        scale.x.push(made())
        cupy.from_dlpack(scale.y.take())
        for value in range(1, ROUNDS + 1):
            array = made()
            slow(producer, array, value)
            begun = time.perf_counter()
            with producer:
                scale.x.push(wrap(array))
            taken = scale.y.take()
            longest = max(longest, time.perf_counter() - begun)
            with consumer:
                copy = cupy.from_dlpack(taken).copy()
            right += bool((cupy.asnumpy(copy, stream=consumer) == 2 * value).all())
            producer.synchronize()
    return right, longest


def test_the_graph_comes_after_the_producer_and_the_consumer_after_the_graph():
    right, longest = pushes(lambda array: array)
    # The slow kernel takes about 50 ms, so less than 20 ms show that neither call waits for it. The limit leaves time for
    # the graph's thread to wake up in each round.
    assert right == ROUNDS and longest < 2e-2, (right, longest)


def test_the_graph_comes_after_the_producer_control():
    right, _ = pushes(Unordered)
    assert right < ROUNDS, "inconclusive: without the order the data was right"


def test_work_on_the_streams_of_the_ports_is_in_order():
    scale = Scale(factor=3.0)
    with scale.spawn():
        scale.x.push(made())
        scale.y.take()
        for value in range(1, ROUNDS + 1):
            # A library works on the stream of the input without any other order.
            array = made()
            slow(cupy.cuda.Stream.from_external(scale.x.stream), array, value)
            scale.x.push(Unordered(array))
            taken = scale.y.take()
            view = cupy.from_dlpack(Unordered(taken))
            with cupy.cuda.Stream.from_external(scale.y.stream) as stream:
                copy = view.copy()
                assert (cupy.asnumpy(copy, stream=stream) == 3 * value).all()


@pytest.mark.parametrize("use_default_stream", [False, True])
def test_the_default_stream(use_default_stream):
    scale = Scale(factor=2.0, use_default_stream=use_default_stream)
    with scale.spawn():
        for value in range(5):
            with cupy.cuda.Stream.from_external(scale.x.stream):
                scale.x.push(cupy.full(1000, value, cupy.float32))
            with cupy.cuda.Stream.from_external(scale.y.stream):
                assert (cupy.from_dlpack(scale.y.take()) == 2 * value).all()
            scale.x.push(cupy.full(1000, value, cupy.float32))
            assert (cupy.asarray(scale.y.take()) == 2 * value).all()


def test_host_memory_is_copied_to_a_graph_of_a_gpu_or_refused():
    scale = Scale(factor=2.0)
    with scale.spawn():
        with pytest.raises(BufferError, match="copy"):
            scale.x.push(np.zeros(3, np.float32), copy=False)
        array = np.full(3, 4, np.float32)
        scale.x.push(array)
        # The graph has a copy, so the array may be written.
        array[:] = 0
        assert (scale.y.take().numpy() == 8).all()


def test_memory_lives_until_the_graph_has_used_it():
    scale = Scale(factor=1.0)
    with scale.spawn():
        for value in range(1, ROUNDS + 1):
            producer = cupy.cuda.Stream(non_blocking=True)
            array = made()
            slow(producer, array, value)
            with producer:
                scale.x.push(array)
            del array
            others = [made() for _ in range(4)]
            taken = scale.y.take()
            assert (taken.numpy() == value).all()
            del others
