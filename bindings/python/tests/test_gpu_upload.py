"""Arrays on the host as tensors of a GPU: of NumPy and of PyTorch, pageable and page-locked."""

import time

import numpy as np
import pytest

import streamflow as sf
from streamflow.demo import Scale

if sf.default_platform().name != "cuda":
    pytest.skip("needs a GPU: " + sf.default_platform().why, allow_module_level=True)
cupy = pytest.importorskip("cupy")

from test_gpu import ROUNDS, made, slow  # noqa: E402


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def test_the_arrays_of_seed_002(torch):
    rows = [[1, 2, 3], [4, 5, 6]]
    arrays = torch.tensor(rows), torch.tensor(rows, device="cuda"), np.array(rows), cupy.array(rows)
    for array in arrays:
        tensor = sf.as_tensor(array)
        assert tensor.dtype == "int64" and tensor.numpy().tolist() == rows
        assert tensor.__dlpack_device__()[0] == 2


@pytest.mark.parametrize("kind", ["NumPy", "pageable", "page-locked"])
def test_the_array_may_be_changed_when_the_call_returns(kind, torch):
    array = np.zeros(1 << 20, np.float32) if kind == "NumPy" else torch.zeros(1 << 20, pin_memory=kind == "page-locked")
    stream = sf.Stream()
    for value in range(1, ROUNDS + 1):
        array[:] = value
        tensor = sf.as_tensor(array, stream=stream)
        array[:] = -1
        assert (tensor.numpy() == value).all()


def test_a_copy_does_not_wait_for_the_work_of_the_tensors_stream():
    stream, array = sf.Stream(), np.ones(1000, np.float32)
    theirs = cupy.cuda.Stream.from_external(stream)
    kept = made()
    slow(theirs, kept, 0.0)
    sf.as_tensor(array, stream=stream)
    theirs.synchronize()
    begun = time.perf_counter()
    slow(theirs, kept, 1.0)
    tensor = sf.as_tensor(array, stream=stream)
    copied = time.perf_counter() - begun
    theirs.synchronize()
    assert copied < (time.perf_counter() - begun) / 2
    assert (tensor.numpy() == 1).all()


def test_page_locked_memory_is_copied_after_a_queued_copy_to_it(torch):
    producer = cupy.cuda.Stream(non_blocking=True)
    source, stale = made(), 0
    target = torch.zeros(source.size, pin_memory=True)
    for value in range(1, ROUNDS + 1):
        slow(producer, source, value)
        cupy.cuda.runtime.memcpyAsync(
            target.data_ptr(), source.data.ptr, source.nbytes, cupy.cuda.runtime.memcpyDeviceToHost, producer.ptr
        )
        stale += bool((target != value).any())
        assert (sf.as_tensor(target).numpy() == value).all()
    assert stale, "inconclusive: without the order the data was right"


def test_a_graph_takes_arrays_of_the_host(torch):
    scale = Scale(factor=2.0)
    with scale.spawn():
        for make in (lambda array: array, torch.from_numpy, lambda array: torch.from_numpy(array).pin_memory()):
            array = np.arange(6, dtype=np.float32).reshape(2, 3)
            scale.x.push(make(array))
            assert (scale.y.take().numpy() == 2 * array).all()
        with pytest.raises(BufferError, match=r"as_tensor\(array\)"):
            scale.x.push(array, copy=False)


def test_copy_false_refuses_what_is_on_the_host(torch):
    for array in (np.ones(3), torch.ones(3), torch.ones(3, pin_memory=True)):
        with pytest.raises(BufferError, match=r"without a copy; call `as_tensor\(array\)`"):
            sf.as_tensor(array, copy=False)
    with pytest.raises(BufferError, match="grad"):
        sf.as_tensor(torch.ones(3, requires_grad=True))
