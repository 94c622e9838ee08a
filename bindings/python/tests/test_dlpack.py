"""DLPack with NumPy: the same memory in both directions, and the rules of the protocol."""

import ctypes
import gc
import weakref

import numpy as np
import pytest
import simulator
from conftest import DTYPES, address, is_back

import streamflow as sf

CPU = (1, 0)


def name_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return get(capsule)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_memory_is_shared_in_both_directions(dtype):
    theirs = np.arange(6).astype(dtype).reshape(2, 3)
    tensor = simulator.from_dlpack(theirs)
    assert (tensor.shape, tensor.dtype, tensor.ndim, tensor.size) == ((2, 3), str(dtype), 2, 6)
    assert tensor.__dlpack_device__() == CPU
    back = np.from_dlpack(tensor)
    assert address(back) == address(theirs) and back.dtype == dtype
    back[1, 2] = 77
    assert theirs[1, 2] == dtype.type(77)
    theirs[0, 0] = 5
    assert back[0, 0] == dtype.type(5)


def test_own_memory_is_shared_and_aligned(stream):
    tensor = simulator.zeros((4, 5), np.float64, stream=stream)
    a, b = np.from_dlpack(tensor), np.from_dlpack(tensor)
    assert address(a) == address(b) and address(a) % 256 == 0
    a[2, 3] = 1.5
    assert b[2, 3] == 1.5 and tensor.numpy()[2, 3] == 1.5


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), (), (1, 1, 1)])
def test_empty_and_scalar_arrays(shape):
    theirs = np.ones(shape, np.int32)
    tensor = simulator.from_dlpack(theirs)
    assert tensor.shape == shape
    np.testing.assert_array_equal(np.from_dlpack(tensor), theirs)
    np.testing.assert_array_equal(np.from_dlpack(simulator.zeros(shape)), np.zeros(shape))


def test_read_only_stays_read_only():
    theirs = np.arange(3.0)
    theirs.flags.writeable = False
    tensor = simulator.from_dlpack(theirs)
    assert tensor.read_only
    assert not np.from_dlpack(tensor).flags.writeable
    with pytest.raises(BufferError, match=r"max_version=\(1, 0\)"):
        tensor.__dlpack__()


def test_the_capsule_follows_the_version():
    tensor = simulator.zeros(3)
    assert name_of(tensor.__dlpack__()) == b"dltensor"
    assert name_of(tensor.__dlpack__(max_version=(0, 8))) == b"dltensor"
    for version in [(1, 0), (1, 3), (2, 0)]:
        assert name_of(tensor.__dlpack__(max_version=version)) == b"dltensor_versioned"


class Producer:
    """Gives a capsule that was made before."""

    def __init__(self, capsule, device=CPU):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **arguments):
        self.arguments = arguments
        return self.capsule

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_is_used_once(version):
    tensor = simulator.zeros(3)
    capsule = tensor.__dlpack__(max_version=version)
    assert simulator.from_dlpack(Producer(capsule)).shape == (3,)
    assert name_of(capsule).startswith(b"used_dltensor")
    with pytest.raises(ValueError, match="used already; call `__dlpack__"):
        simulator.from_dlpack(Producer(capsule))
    again = tensor.__dlpack__(max_version=(1, 0))
    np.from_dlpack(Producer(again))
    with pytest.raises(ValueError, match="used already"):
        simulator.from_dlpack(Producer(again))


def test_a_capsule_that_is_not_used_is_given_back():
    before = sf.live()["lent"]
    tensor = simulator.zeros(3)
    capsules = [tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0))]
    assert sf.live()["lent"] == before + 2
    del capsules
    assert is_back("lent", before)


def test_an_export_outlives_its_tensor():
    before = sf.live()["lent"]
    tensor = simulator.zeros(1000)
    array = np.from_dlpack(tensor)
    array[:] = 3
    del tensor
    gc.collect()
    # Memory that was freed would be poisoned, or given to one of these tensors.
    others = [simulator.zeros(1000) for _ in range(20)]
    assert (array == 3).all() and sf.live()["lent"] > before
    del array, others
    assert is_back("lent", before)


def test_an_import_keeps_its_array_until_it_is_dropped():
    before = sf.live()["adopted"]

    class Array(np.ndarray):
        pass

    theirs = np.full(1000, 7.0).view(Array)
    gone = weakref.ref(theirs)
    tensor = simulator.from_dlpack(theirs)
    del theirs
    gc.collect()
    assert (tensor.numpy() == 7).all() and sf.live()["adopted"] == before + 1
    del tensor
    assert is_back("adopted", before)
    assert gone() is None


def test_a_copy_is_a_copy():
    tensor = simulator.zeros(3)
    shared = np.from_dlpack(tensor)
    copy = np.from_dlpack(tensor, copy=True)
    copy[:] = 1
    assert address(copy) != address(shared) and (shared == 0).all()
    assert address(np.from_dlpack(tensor, copy=False)) == address(shared)
    assert address(np.from_dlpack(tensor, device="cpu")) == address(shared)


def test_arguments_that_are_not_right_are_refused_without_side_effects():
    tensor, before = simulator.zeros(3), sf.live()
    with pytest.raises(ValueError, match="pass `stream=None`"):
        tensor.__dlpack__(stream=1)
    with pytest.raises(BufferError, match=r"\(2, 0\); ask for its own device"):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError):
        tensor.__dlpack__(max_version="new")
    with pytest.raises(TypeError):
        tensor.__dlpack__(1)
    assert sf.live() == before


@pytest.mark.parametrize(("array", "text"), [
    (np.zeros((4, 4)).T[1:], "numpy.ascontiguousarray"),
    (np.zeros((4, 4))[:, ::2], "numpy.ascontiguousarray"),
    (np.zeros(4)[::-1], "numpy.ascontiguousarray"),
    (np.broadcast_to(np.float32(1), (3, 3)), "numpy.ascontiguousarray"),
    (np.zeros((1,) * 9), "at most 8"),
])
def test_layouts_that_are_not_dense_are_refused(array, text):
    with pytest.raises(BufferError, match=text):
        simulator.from_dlpack(array)


def test_a_dimension_of_one_may_have_any_stride():
    array = np.zeros((4, 4))[:1, ::1]
    assert simulator.from_dlpack(array[:, :]).shape == (1, 4)


def test_elements_that_streamflow_has_not_are_named():
    with pytest.raises(TypeError, match="float32"):
        simulator.zeros(3, "datetime64")
    with pytest.raises(TypeError, match="name of a type"):
        simulator.zeros(3, 3)


def test_objects_without_the_protocol_are_named():
    with pytest.raises(TypeError, match="a list has no `__dlpack__`"):
        simulator.from_dlpack([1, 2])
    with pytest.raises(TypeError, match="returned a int"):
        simulator.from_dlpack(Producer(3))
    with pytest.raises(TypeError, match="first, as by `numpy.asarray`"):
        simulator.as_tensor([1, 2])


def test_memory_of_a_gpu_is_refused_by_the_simulator(stream):
    class Gpu(Producer):
        def __dlpack__(self, **arguments):
            raise BufferError("there is no GPU")

    with pytest.raises(BufferError, match="there is no GPU"):
        simulator.from_dlpack(Gpu(None, (2, 0)), stream=stream)


def test_a_producer_from_before_version_1_is_called_again():
    class Old:
        def __dlpack__(self, stream=None):
            return np.arange(3.0).__dlpack__()

        def __dlpack_device__(self):
            return CPU

    assert (simulator.from_dlpack(Old()).numpy() == [0, 1, 2]).all()


def test_errors_of_the_producer_are_passed_on():
    class Grad(Producer):
        def __dlpack__(self, **arguments):
            raise BufferError("it requires a gradient; detach it first")

    with pytest.raises(BufferError, match="detach it first"):
        simulator.from_dlpack(Grad(None))


def test_jax_arrays_are_read_only():
    class Array(Producer):
        pass

    Array.__module__ = "jaxlib.xla"
    array = np.zeros(3)
    tensor = simulator.from_dlpack(Array(array.__dlpack__()))
    assert tensor.read_only and not np.from_dlpack(tensor).flags.writeable
