"""The array interfaces: NumPy's in both directions, and CUDA's as far as it goes without a GPU."""

import random

import numpy as np
import pytest
import simulator
from conftest import DTYPES, address, is_back

import streamflow as sf


class Exporter:
    """An object with one interface alone."""

    def __init__(self, interface, name="__array_interface__", keep=None):
        setattr(self, name, interface)
        self.keep = keep


def interface(array, **changes):
    return {**array.__array_interface__, **changes}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numpy_reads_the_array_interface(dtype):
    tensor = simulator.zeros((2, 3), dtype)
    array = np.asarray(tensor)
    assert array.dtype == dtype and array.shape == (2, 3) and array.flags.writeable
    assert address(array) == address(np.from_dlpack(tensor))
    array[1, 1] = 9
    assert np.asarray(tensor)[1, 1] == dtype.type(9)


@pytest.mark.parametrize("seed", range(8))
def test_the_array_interface_waits_until_the_tensor_is_written(seed):
    stream = sf.Stream(sf.Platform("host", seed=seed))
    # New memory has poison in place of the zeros, so an array that is read too early is not zero.
    assert all((np.asarray(simulator.zeros(100, stream=stream)) == 0).all() for _ in range(10))
    simulator.empty(1, stream=stream)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_array_interface_is_imported(dtype):
    before = sf.live()["adopted"]
    array = np.arange(6).astype(dtype).reshape(2, 3)
    tensor = simulator.as_tensor(Exporter(array.__array_interface__, keep=array))
    assert (tensor.dtype, tensor.shape) == (str(dtype), (2, 3))
    assert address(np.asarray(tensor)) == address(array)
    del tensor
    assert is_back("adopted", before)


def test_a_tensor_is_returned_as_it_is_and_dlpack_is_preferred():
    tensor = simulator.zeros(3)
    assert simulator.as_tensor(tensor) is tensor
    array = np.zeros(3)
    array.flags.writeable = False
    assert simulator.as_tensor(array).read_only


def copies_on_request_alone(array, made, stream):
    shared = [sf.as_tensor(made, stream=stream, copy=copy) for copy in (None, False)]
    copied = sf.as_tensor(made, stream=stream, copy=True)
    again = sf.as_tensor(copied, stream=stream, copy=True)
    array[:] = -1
    assert all((it.numpy() == -1).all() for it in shared)
    assert copied.numpy().tolist() == again.numpy().tolist() == [0, 1, 2, 3, 4, 5]
    assert address(copied.numpy()) != address(again.numpy())


@pytest.mark.parametrize("form", [lambda array: array, lambda array: Exporter(interface(array), keep=array)])
def test_a_copy_is_made_on_request_alone(stream, form):
    array = np.arange(6.0)
    copies_on_request_alone(array, form(array), stream)
    assert is_back("adopted", 0, stream) and is_back("lent", 0, stream)


def test_what_numpy_sees_outlives_the_tensor():
    array = np.asarray(simulator.zeros(1000))
    array[:] = 3
    others = [simulator.zeros(1000) for _ in range(20)]
    assert (array == 3).all()
    del others


@pytest.mark.parametrize(("changes", "error", "text"), [
    ({"typestr": ">f8"}, TypeError, "byte order"),
    ({"typestr": "<U4"}, TypeError, "<U4"),
    ({"typestr": "x"}, TypeError, "no elements of type x"),
    ({"strides": (16,)}, BufferError, "ascontiguousarray"),
    ({"strides": (8, 8)}, BufferError, "ascontiguousarray"),
    ({"strides": "wide"}, ValueError, "strides"),
    ({"shape": (-1,)}, ValueError, "shape"),
    ({"shape": (2**62, 2**62)}, ValueError, "too large"),
    ({"shape": (1,) * 9}, ValueError, "at most 8"),
    ({"data": None}, BufferError, "names no memory"),
    ({"data": (0, False)}, BufferError, "address is null"),
    ({"data": (3, False)}, BufferError, "aligned"),
    ({"data": 7}, ValueError, "data"),
    ({"mask": np.zeros(3)}, BufferError, "mask"),
])
def test_interfaces_that_are_not_right_are_refused(changes, error, text):
    array = np.zeros(3)
    with pytest.raises(error, match=text):
        simulator.as_tensor(Exporter(interface(array, **changes), keep=array))


def test_a_missing_entry_is_named():
    array = np.zeros(3)
    for key in ("shape", "typestr", "data"):
        broken = interface(array)
        del broken[key]
        with pytest.raises(ValueError, match=f'no entry "{key}"'):
            simulator.as_tensor(Exporter(broken))
    with pytest.raises(TypeError, match="not a dictionary"):
        simulator.as_tensor(Exporter(3))


def cuda(**changes):
    whole = {"shape": (3,), "typestr": "<f4", "data": (256, False), "version": 3, **changes}
    return Exporter(whole, "__cuda_array_interface__")


@pytest.mark.parametrize(("changes", "error", "text"), [
    ({"stream": 0}, ValueError, "0, which names no stream"),
    ({"stream": -1}, ValueError, "-1"),
    ({"stream": "mine"}, ValueError, "not a number"),
    # These interfaces are right, and are refused only because there is no GPU.
    ({"stream": 1}, BufferError, "by the simulator"),
    ({"stream": 2}, BufferError, "by the simulator"),
    ({"stream": None}, BufferError, "by the simulator"),
    ({}, BufferError, "by the simulator"),
    # Versions of other libraries: PyTorch has version 2, and RMM version 0.
    ({"version": 2}, BufferError, "by the simulator"),
    ({"version": 0}, BufferError, "by the simulator"),
])
def test_the_cuda_array_interface_says_what_is_missing(changes, error, text):
    with pytest.raises(error, match=text):
        simulator.as_tensor(cuda(**changes))


def test_a_simulated_tensor_has_no_cuda_array_interface():
    tensor = simulator.zeros(3)
    assert not hasattr(tensor, "__cuda_array_interface__")
    assert hasattr(tensor, "__array_interface__")


def test_random_interfaces_are_imported_or_refused():
    array = np.arange(4.0)
    values = [
        None, 0, 1, -1, 3, 2**70, "", "<f8", "|u1", (), (2,), (4,), (-4,), (2, 2), (8,), (16, 8), (2**63,), [2, 2],
        (array.__array_interface__["data"][0], False), (0, True), (None, None), {}, b"x", 1.5, float("nan"),
    ]
    taken = 0
    for seed in range(5000):
        draw = random.Random(seed)
        drawn = interface(array)
        # No interface names more memory than the array has: the exporter of an address guarantees that it is valid.
        for key in draw.sample(["shape", "typestr", "strides", "data", "mask", "version"], draw.randint(1, 3)):
            drawn[key] = draw.choice(values)
        name = draw.choice(["__array_interface__", "__cuda_array_interface__"])
        try:
            tensor = simulator.as_tensor(Exporter(drawn, name, keep=array))
        except (TypeError, ValueError, BufferError) as error:
            assert str(error)
        else:
            taken += tensor.size <= 4
    assert taken > 50
