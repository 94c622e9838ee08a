"""Arrays with padding between their rows. The padding has a value of its own, and nothing reads or writes it."""

import numpy as np
import pytest
import simulator
from capsules import Managed, of
from conftest import address, is_back

import streamflow as sf
from streamflow.demo import Scale

BESIDE = -77.0


def columns(shape=(4, 5), extra=3, dtype=np.float32):
    """The first columns of a wider array, and that array."""
    rows, row = shape[0], int(np.prod(shape[1:]))
    wide = np.full((rows, row + extra), BESIDE, dtype)
    steps = np.empty(shape, dtype).strides[1:]
    part = np.lib.stride_tricks.as_strided(wide, shape, (wide.strides[0], *steps))
    part[:] = np.arange(rows * row).reshape(shape)
    return part, wide


def only(array):
    """The array with the array interface alone."""
    return type("Only", (), {"__array_interface__": array.__array_interface__, "keep": array})()


FORMS = pytest.mark.parametrize("form", [lambda array: array, lambda array: of(Managed(array)), only], ids=["NumPy", "DLPack", "interface"])


@FORMS
@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3), (4, 1), (1, 5)])
def test_the_memory_is_shared_with_its_padding(form, shape):
    before = sf.live()["adopted"]
    part, wide = columns(shape)
    tensor = simulator.as_tensor(form(part))
    assert tensor.shape == shape and not tensor.read_only
    for seen in (np.from_dlpack(tensor), np.asarray(tensor), tensor.numpy()):
        assert address(seen) == address(part) and (seen == part).all()
        assert seen.strides == part.strides or shape[0] == 1
    tensor.numpy()[:] = 8
    assert (part == 8).all() and (wide == BESIDE).sum() == wide.size - part.size
    del tensor, seen
    assert is_back("adopted", before)


# An object of the tests with DLPack alone makes no copy itself.
@pytest.mark.parametrize("form", [lambda array: array, only], ids=["NumPy", "interface"])
def test_a_copy_is_dense(stream, form):
    part, _ = columns()
    copy = sf.as_tensor(form(part), stream=stream, copy=True)
    assert copy.__array_interface__["strides"] is None and (copy.numpy() == part).all()
    copy = np.from_dlpack(simulator.as_tensor(form(part)), copy=True)
    assert copy.flags.c_contiguous and (copy == part).all()


def test_the_interface_has_the_strides():
    part, _ = columns(dtype=np.float64)
    interface = simulator.as_tensor(part).__array_interface__
    assert interface["strides"] == part.strides == (64, 8)
    assert simulator.zeros((2, 3)).__array_interface__["strides"] is None


def test_a_read_only_array_stays_read_only():
    part, _ = columns()
    part.flags.writeable = False
    for form in (part, only(part)):
        tensor = simulator.as_tensor(form)
        assert tensor.read_only and not np.asarray(tensor).flags.writeable
        assert (np.asarray(tensor) == part).all()


def test_a_port_of_dense_tensors_gets_a_dense_copy():
    part, wide = columns()
    graph = Scale(factor=2.0, platform=simulator.PLATFORM)
    with graph.spawn():
        for pushed in (part, only(part), simulator.as_tensor(part)):
            graph.x.push(pushed)
            taken = graph.y.take()
            assert taken.__array_interface__["strides"] is None
            assert (taken.numpy() == 2 * np.arange(20).reshape(4, 5)).all()
        with pytest.raises(BufferError, match=r"port `x` takes dense tensors.*\[4, 5\].*\[8, 1\] elements.*copy=None"):
            graph.x.push(part, copy=False)
        part.flags.writeable = False
        graph.x.push(part)
        assert (graph.y.take().numpy() == 2 * part).all()
    del taken, pushed
    assert (wide[:, 5:] == BESIDE).all() and (part == np.arange(20).reshape(4, 5)).all()


@pytest.mark.parametrize(("strides", "text"), [
    ((30, 4), r"\[30, 4\] bytes, and 30 is no multiple of the 4 bytes of a float32"),
    ((16, 4), r"\[4, 1\] for the shape \[4, 5\]: dimension 0 continues after 4 elements, and 5 are in"),
    ((-32, 4), "stride -8 of dimension 0 is negative"),
    ((4, 16), "the elements of a row are 4 apart"),
])
def test_strides_that_are_no_rows_are_refused_with_both_sides(strides, text):
    part, _ = columns()
    interface = {**part.__array_interface__, "strides": strides}
    with pytest.raises(BufferError, match=text + ".*numpy.ascontiguousarray"):
        simulator.as_tensor(type("Only", (), {"__array_interface__": interface, "keep": part})())
