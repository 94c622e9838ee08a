"""DLPack's C exchange API, on the simulator: its rules by a consumer that is played, and a library that has it."""

import ctypes
import gc
import os
import sys
import threading

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))

import exchange  # noqa: E402
from conftest import address, is_back  # noqa: E402
from exchange import API, allocated, borrowed, delete, imported, managed, work_stream  # noqa: E402

import streamflow as sf  # noqa: E402

CPU, CUDA = 1, 2


def view(plain, dtype):
    """The elements that a `DLTensor` has, as a library in C reads them."""
    count = int(np.prod(plain.dims()[0]))
    kind = np.ctypeslib.as_ctypes_type(dtype) * count
    return np.ctypeslib.as_array(kind.from_address(plain.data))


def test_the_table_is_on_the_type_and_complete():
    assert (API.version.major, API.version.minor, API.prev_api) == (1, 3, None)
    for name, _ in exchange.Api._fields_[2:]:
        assert ctypes.cast(getattr(API, name), ctypes.c_void_p).value, name
    assert exchange.table(type(sf.zeros(1))).version.major == 1
    # Each call returns the same table, which lives as long as the process.
    again = exchange.table()
    assert ctypes.addressof(again) == ctypes.addressof(API)


@pytest.mark.parametrize("seed", range(4))
def test_a_managed_tensor_is_written_before_it_is_handed_out(seed):
    stream = sf.Stream(sf.Platform("host", seed=seed))
    tensor = sf.zeros((2, 3), "int32", stream=stream)
    out = managed(tensor)
    it = out.contents
    assert (it.version.major, it.flags) == (1, 0)
    assert it.tensor.dims() == ([2, 3], [3, 1])
    assert (it.tensor.dtype.code, it.tensor.dtype.bits, it.tensor.device.kind) == (0, 32, CPU)
    # Without the wait, the elements would be the poison of new memory.
    elements = view(it.tensor, np.int32)
    assert (elements == 0).all()
    elements[:] = 7
    assert (tensor.numpy() == 7).all() and address(tensor.numpy()) == it.tensor.data
    del tensor
    gc.collect()
    assert sf.live()["lent"] >= 1 and (elements == 7).all()
    delete(out)
    # An allocation takes back what was returned to this platform.
    sf.empty(1, stream=stream)
    assert is_back("lent", 0)


@pytest.mark.parametrize("seed", range(4))
def test_a_borrowed_tensor_is_written_before_it_is_handed_out(seed):
    stream = sf.Stream(sf.Platform("host", seed=seed))
    tensor = sf.zeros((4, 1, 2), "float64", stream=stream)
    plain = borrowed(tensor)
    assert plain.dims() == ([4, 1, 2], [2, 2, 1]) and plain.byte_offset == 0
    assert (view(plain, np.float64) == 0).all()
    view(plain, np.float64)[:] = 3
    assert (tensor.numpy() == 3).all()
    # The shape lives as long as the tensor.
    assert borrowed(tensor).dims() == plain.dims()


def test_a_read_only_tensor_is_managed_with_its_flag_and_not_borrowed():
    theirs = np.arange(3.0)
    theirs.flags.writeable = False
    tensor = sf.from_dlpack(theirs)
    out = managed(tensor)
    assert out.contents.flags == 1
    back = imported(out)
    assert back.read_only and address(back.numpy()) == address(theirs)
    with pytest.raises(BufferError, match="managed_tensor_from_py_object_no_sync"):
        borrowed(tensor)


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), (), (1, 1)])
def test_empty_and_scalar_tensors(shape):
    tensor = sf.zeros(shape)
    plain = borrowed(tensor)
    assert plain.dims()[0] == list(shape)
    assert bool(plain.data) == (tensor.size > 0)
    assert imported(managed(tensor)).shape == shape


def test_other_objects_and_null_pointers_are_refused():
    for call in (managed, borrowed):
        with pytest.raises(TypeError, match="no streamflow.Tensor"):
            call(np.zeros(3))
    with pytest.raises(BufferError, match="null"):
        API.to_object(None, ctypes.byref(ctypes.c_void_p()))
    with pytest.raises(ValueError, match="null"):
        API.from_object(sf.zeros(1), None)
    with pytest.raises(ValueError, match="null"):
        API.borrow(sf.zeros(1), None)
    with pytest.raises(ValueError, match="null"):
        API.to_object(managed(sf.zeros(1)), None)
    with pytest.raises(ValueError, match="null"):
        API.current_work_stream(CPU, 0, None)


def test_a_structure_of_another_version_is_deleted_and_not_read():
    out = managed(sf.zeros(3))
    out.contents.version.major = 2
    out.contents.tensor.ndim = -1
    with pytest.raises(BufferError, match="version of DLPack is 2.3"):
        imported(out)
    assert is_back("lent", 0)


def test_the_cpu_has_no_work_stream_and_other_devices_are_refused():
    assert work_stream(CPU) is None
    assert work_stream(3) is None
    with pytest.raises(BufferError, match="type 10"):
        work_stream(10)
    with pytest.raises(BufferError, match="no work stream for CUDA device 0.*`host`"):
        work_stream(CUDA)
    assert sf.work_stream().device == 0
    with pytest.raises(ValueError, match="device 9"):
        sf.work_stream(9)


def test_the_allocator_makes_tensors():
    out = allocated((2, 3), dtype=(0, 16))
    assert out.contents.tensor.dims() == ([2, 3], [3, 1])
    view(out.contents.tensor, np.int16)[:] = 5
    tensor = imported(out)
    assert (tensor.shape, tensor.dtype) == ((2, 3), "int16") and (tensor.numpy() == 5).all()
    del tensor
    delete(allocated((), dtype=(2, 64)))
    delete(allocated((0, 4)))


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"shape": (2,), "dtype": (9, 4)}, "TypeError", "no elements of type"),
        ({"shape": (-1,)}, "ValueError", "a dimension is -1"),
        ({"shape": (2**62, 2**62)}, "ValueError", "overflows"),
        ({"shape": (1,) * 9}, "ValueError", "at most 8"),
        ({"shape": (2,), "rank": -3}, "ValueError", "-3 dimensions"),
        ({"shape": (2,), "device": (10, 0)}, "BufferError", "type 10"),
        ({"shape": (2,), "out": False}, "ValueError", "null"),
    ],
)
def test_the_allocator_reports_errors_by_the_callback(arguments, kind, text):
    assert allocated(**arguments)[0] == kind
    assert text in allocated(**arguments)[1]


def test_the_allocator_needs_no_interpreter_lock():
    # ctypes calls the allocator without the interpreter lock, and the other thread runs Python meanwhile.
    done = threading.Event()

    def work():
        for _ in range(100):
            delete(allocated((16,)))
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        delete(managed(sf.zeros(4)))
    thread.join(60)
    assert is_back("lent", 0)


def test_deleters_run_on_other_threads_and_late():
    kept = [managed(sf.zeros(8)) for _ in range(50)]
    thread = threading.Thread(target=lambda: [delete(out) for out in kept])
    thread.start()
    thread.join(60)
    assert is_back("lent", 0)


# ---- a library that has the API -----------------------------------------------------------------


@pytest.fixture
def tvm_ffi():
    return pytest.importorskip("tvm_ffi", reason="needs apache-tvm-ffi")


def test_tvm_ffi_takes_tensors(tvm_ffi):
    tensor = sf.zeros((2, 3))
    theirs = tvm_ffi.from_dlpack(tensor)
    assert tuple(theirs.shape) == (2, 3) and str(theirs.dtype) == "float32"
    back = np.from_dlpack(theirs)
    assert address(back) == address(tensor.numpy())
    back[:] = 4
    assert (tensor.numpy() == 4).all()
    del theirs, back, tensor
    gc.collect()
    assert is_back("lent", 0)


def test_tvm_ffi_returns_tensors_of_its_callers_type(tvm_ffi):
    calls = []

    def identity(it):
        calls.append(type(it))
        return it

    function = tvm_ffi.convert(identity)
    tensor = sf.zeros((5,), "int64")
    result = function(tensor)
    assert calls == [tvm_ffi.Tensor] and isinstance(result, sf.Tensor)
    assert (result.shape, result.dtype) == ((5,), "int64")
    tensor.numpy()[:] = 9
    assert (result.numpy() == 9).all()
