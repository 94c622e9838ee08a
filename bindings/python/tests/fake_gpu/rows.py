"""Each row of the guide's page on exchanges: ordered without blocking, or refused with the way that is. The libraries are
stood for by objects that behave as theirs do; with the libraries themselves, the probes show it on a GPU."""

import faulthandler
import sys
import threading
import time
import types

import capsules
import numpy as np
import pytest
from capsules import CPU, CUDA_HOST, CUDA_MANAGED, Managed, Producer, of, ones
from conftest import DTYPES, is_back
from exchange import borrowed, imported, managed
from fake import LEGACY, PER_THREAD, Array, Interface, Stream, blocks, held, hold, slow, take_order, waits

import streamflow as sf
from streamflow.demo import Scale

# Numbers that are no handles: near the smallest and the largest address, and one that is not aligned.
NO_HANDLES = [3, 7, 64, 4095, 4097, 0x1234564, 2**56, 2**63 - 8]
SWITCHES = ["NUMBA_CUDA_ARRAY_INTERFACE_SYNC", "HOLOSCAN_CUDA_ARRAY_INTERFACE_SYNC"]


@pytest.fixture(autouse=True)
def unfinished():
    """Queries say that all work is unfinished, so that no wait is left out."""
    sf.zeros(1)
    slow(True)
    take_order()
    yield
    slow(False)


@pytest.fixture
def stream():
    return sf.Stream()


@pytest.fixture
def theirs():
    return Stream()


def used(tensor):
    """Exports a tensor to a new stream, and returns its handle: work there comes after what the tensor comes after."""
    consumer = Stream()
    tensor.__dlpack__(stream=consumer.ptr, max_version=(1, 0))
    return consumer.ptr


# ---- DLPack out: the table of stream values ------------------------------------------------------


def export(tensor, **arguments):
    take_order()
    capsule = tensor.__dlpack__(max_version=(1, 0), **arguments)
    assert capsules.name_of(capsule) == b"dltensor_versioned"
    return take_order()


@pytest.mark.parametrize(("argument", "waiting"), [({}, LEGACY), ({"stream": None}, LEGACY), ({"stream": 1}, LEGACY), ({"stream": 2}, PER_THREAD)])
def test_a_default_stream_waits_for_the_tensor(stream, argument, waiting):
    tensor = sf.zeros(4, stream=stream)
    order = export(tensor, **argument)
    assert waits(order, waiting, stream.handle) and not blocks(order), order


def test_the_stream_with_a_handle_waits_for_the_tensor(stream, theirs):
    for argument in (theirs.ptr, theirs):
        tensor = sf.zeros(4, stream=stream)
        order = export(tensor, stream=argument)
        assert waits(order, theirs.ptr, stream.handle) and not blocks(order), order


def test_nothing_waits_for_minus_1(stream):
    order = export(sf.zeros(4, stream=stream), stream=-1)
    assert not any(kind == "wait" for kind, *_ in order) and not blocks(order), order


@pytest.mark.parametrize("argument", [0, -2, -(2**63)])
def test_other_values_name_no_stream(stream, argument):
    tensor = sf.zeros(4, stream=stream)
    with pytest.raises(ValueError, match=rf"stream={argument}` names no stream.*pass 1 for the legacy default"):
        tensor.__dlpack__(stream=argument)


@pytest.mark.parametrize("argument", NO_HANDLES)
def test_a_number_that_is_no_handle_is_refused_by_name(stream, argument):
    tensor, before = sf.zeros(4, stream=stream), sf.live()
    take_order()
    with pytest.raises(ValueError, match=rf"^{argument} is the handle of no stream: a handle is an address"):
        tensor.__dlpack__(stream=argument)
    with pytest.raises(ValueError, match=rf"^{argument} is the handle of no stream"):
        sf.as_tensor(Interface(ones(4), stream=argument), stream=stream)
    assert not blocks(take_order()) and sf.live() == before


@pytest.mark.parametrize("argument", ["1", 1.5, object(), 2**70, (0, 7)])
def test_what_is_no_stream_is_named(stream, argument):
    tensor = sf.zeros(4, stream=stream)
    with pytest.raises(TypeError, match="is no stream; pass its handle as an int"):
        tensor.__dlpack__(stream=argument)


def test_the_host_waits_for_a_copy_on_the_cpu(stream):
    tensor = sf.zeros(4, stream=stream)
    order = export(tensor, dl_device=(1, 0))
    assert blocks(order)
    with pytest.raises(ValueError, match="pass `stream=None`"):
        tensor.__dlpack__(dl_device=(1, 0), stream=1)
    with pytest.raises(BufferError, match="copy=True"):
        tensor.__dlpack__(dl_device=(1, 0), copy=False)


def test_a_copy_on_the_device_is_ordered_too(stream, theirs):
    tensor = sf.zeros(4, stream=stream)
    order = export(tensor, stream=theirs.ptr, copy=True)
    assert waits(order, theirs.ptr, stream.handle) and not blocks(order), order


def test_an_argument_that_is_refused_has_no_effects(stream, theirs):
    tensor, before = sf.zeros(4, stream=stream), sf.live()
    take_order()
    for arguments in (
        {"stream": 0}, {"stream": "x"}, {"dl_device": (2, 1)}, {"dl_device": (1, 0), "stream": theirs.ptr},
        {"max_version": "x"}, {"copy": "x"}, {"streams": 1},
    ):
        with pytest.raises((TypeError, ValueError, BufferError)):
            tensor.__dlpack__(**arguments)
    assert take_order() == [] and sf.live() == before


def test_the_handle_of_a_stream_that_was_destroyed_is_refused(stream, theirs):
    tensor = sf.zeros(4, stream=stream)
    handle = theirs.ptr
    theirs.destroy()
    with pytest.raises(sf.Error, match="keep the stream during the call"):
        tensor.__dlpack__(stream=handle)
    # The refused call has not changed the tensor.
    assert (tensor.numpy() == 0).all()


# ---- DLPack in -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [2, CUDA_MANAGED])
def test_an_import_comes_after_the_producers_stream(stream, theirs, kind):
    array = Array(ones(4), theirs, kind=kind)
    tensor = sf.from_dlpack(array, stream=stream)
    # The stream is passed as a number, as PyTorch requires.
    assert array.arguments == {"stream": stream.handle, "max_version": (1, 3)}
    reader = used(tensor)
    order = take_order()
    assert waits(order, stream.handle, theirs.ptr) and waits(order, reader, theirs.ptr)
    assert not blocks(order), order


def test_an_import_comes_after_the_producers_stream_control(stream, theirs):
    class Unordered(Array):
        def __dlpack__(self, **arguments):
            return super().__dlpack__(**{**arguments, "stream": -1})

    tensor = sf.from_dlpack(Unordered(ones(4), theirs), stream=stream)
    reader = used(tensor)
    assert not waits(take_order(), reader, theirs.ptr)


def test_page_locked_memory_comes_after_all_work_of_the_device(stream, theirs):
    # The producer of page-locked memory gets no stream, so it orders nothing.
    array = Array(ones(4), theirs, kind=CUDA_HOST)
    tensor = sf.from_dlpack(array, stream=stream)
    assert "stream" not in array.arguments
    reader = used(tensor)
    order = take_order()
    assert waits(order, reader, "device") and not blocks(order), order


def test_a_producer_without_max_version_is_called_again_with_the_stream(stream, theirs):
    calls = []

    class Old(Array):
        def __dlpack__(self, stream=None):
            calls.append(stream)
            return super().__dlpack__(stream=stream)

    reader = used(sf.from_dlpack(Old(ones(4), theirs, legacy=True), stream=stream))
    assert calls == [stream.handle] and waits(take_order(), reader, theirs.ptr)


@pytest.mark.parametrize("module", ["cuda.core._memory._buffer", "cvcuda._cvcuda", "nvcv"])
def test_a_library_that_ignores_our_stream_is_waited_for_whole(stream, theirs, module):
    class Ignores(Array):
        __module__ = module

        def __dlpack__(self, **arguments):
            return super().__dlpack__(**{**arguments, "stream": -1})

    reader = used(sf.from_dlpack(Ignores(ones(4), theirs), stream=stream))
    order = take_order()
    assert waits(order, reader, "device") and not blocks(order), order


def test_an_import_of_jax_is_read_only(stream, theirs):
    ours = type("Array", (Array,), {"__module__": "jaxlib._jax"})
    tensor = sf.from_dlpack(ours(ones(4), theirs, legacy=True), stream=stream)
    assert tensor.read_only
    with pytest.raises(BufferError, match=r"max_version=\(1, 0\)"):
        tensor.__dlpack__(stream=1)


def test_the_array_is_given_back_after_our_work(stream, theirs):
    managed = Managed(ones(4), kind=2)
    tensor = sf.from_dlpack(Producer(lambda **_: managed.capsule(), (2, 0)), stream=stream)
    reader = used(tensor)
    del tensor
    # Another library has had the array, so it is given back only after all work of the device.
    end = time.monotonic() + 10
    while managed.deleted == 0 and time.monotonic() < end:
        sf.empty(1)
    assert managed.deleted == 1
    assert any(kind == "record device" for kind, *_ in take_order()), reader


# ---- The CUDA array interface --------------------------------------------------------------------


def test_version_3_names_the_stream_that_we_wait_for(stream, theirs):
    tensor = sf.as_tensor(Interface(ones(4), stream=theirs.ptr), stream=stream)
    reader = used(tensor)
    order = take_order()
    assert waits(order, reader, theirs.ptr) and not blocks(order), order


@pytest.mark.parametrize("handle", [LEGACY, PER_THREAD])
def test_version_3_may_name_a_default_stream(stream, handle):
    tensor = sf.as_tensor(Interface(ones(4), stream=handle), stream=stream)
    reader = used(tensor)
    order = take_order()
    assert waits(order, reader, handle) and not blocks(order), order


@pytest.mark.parametrize("changes", [
    pytest.param({"version": 2}, id="PyTorch, and CUPY_CUDA_ARRAY_INTERFACE_EXPORT_VERSION=2"),
    pytest.param({"version": 2, "stream": 64}, id="a stream means nothing before version 3"),
    pytest.param({"version": 0}, id="RMM"),
    pytest.param({"version": 1}, id="version 1"),
    pytest.param({"stream": None}, id="Numba's default stream, and a stream that was set to None"),
    pytest.param({}, id="no stream"),
])
def test_a_dictionary_without_a_stream_comes_after_all_work_of_the_device(stream, theirs, changes):
    tensor = sf.as_tensor(Interface(ones(4), **changes), stream=stream)
    reader = used(tensor)
    order = take_order()
    assert waits(order, reader, "device") and not blocks(order), order
    del theirs


@pytest.mark.parametrize(("entry", "text"), [(0, "0, which names no stream"), (-1, "-1, which names no stream.*from_dlpack"), ("x", "not a number")])
def test_other_streams_are_refused(stream, entry, text):
    # With the entry -1, CV-CUDA says that it orders nothing.
    with pytest.raises(ValueError, match=text):
        sf.as_tensor(Interface(ones(4), stream=entry), stream=stream)


def test_the_stream_of_a_dictionary_may_be_our_own(stream):
    tensor = sf.zeros(4, stream=stream)
    same = Interface(np.zeros(4, np.float32), **tensor.__cuda_array_interface__)
    reader = used(sf.as_tensor(same, stream=sf.Stream()))
    assert waits(take_order(), reader, stream.handle)
    # The stream in the dictionary may also be the stream that imports.
    sf.as_tensor(same, stream=stream)


def test_a_stream_that_was_destroyed_is_refused(stream, theirs):
    array = Interface(ones(4), stream=theirs.ptr)
    theirs.destroy()
    with pytest.raises(sf.Error, match="keep the stream during the call"):
        sf.as_tensor(array, stream=stream)


def test_our_dictionary_names_our_stream_which_comes_after_all_writers(stream, theirs):
    tensor = sf.from_dlpack(Array(ones(4), theirs), stream=stream)
    interface = tensor.__cuda_array_interface__
    order = take_order()
    assert interface["version"] == 3 and interface["stream"] == stream.handle
    assert waits(order, interface["stream"], theirs.ptr) and not blocks(order), order


def test_the_entry_stream_of_ours_is_a_copy(stream):
    """Seed 000 sets it to None before `cupy.asarray`."""
    tensor = sf.zeros(4, stream=stream)
    tensor.__cuda_array_interface__["stream"] = None
    assert tensor.__cuda_array_interface__["stream"] == stream.handle


class Library(types.SimpleNamespace):
    """A module with the current stream of PyTorch or CuPy."""

    def __init__(self, stream, is_initialized=True):
        def current_stream(device):
            assert device == 0
            return types.SimpleNamespace(cuda_stream=stream.ptr)

        super().__init__(cuda=types.SimpleNamespace(
            is_initialized=lambda: is_initialized, current_stream=current_stream, get_current_stream=lambda: stream
        ))


def test_the_current_stream_of_pytorch_waits_since_it_ignores_ours(stream, theirs, monkeypatch):
    tensor = sf.from_dlpack(Array(ones(4), theirs), stream=stream)
    for library, waiting in ((None, False), (Library(Stream(), False), False), (Library(Stream()), True)):
        monkeypatch.setitem(sys.modules, "torch", library)
        take_order()
        tensor.__cuda_array_interface__
        order = take_order()
        if library:
            current = library.cuda.get_current_stream().ptr
            assert waits(order, current, stream.handle) == waiting, order
        assert not blocks(order) and not any(kind == "host asks" for kind, *_ in order), order


@pytest.mark.parametrize("handle", [0, 1])
def test_the_current_stream_of_pytorch_may_be_the_default_stream(stream, theirs, monkeypatch, handle):
    tensor = sf.from_dlpack(Array(ones(4), theirs), stream=stream)
    monkeypatch.setitem(sys.modules, "torch", Library(types.SimpleNamespace(ptr=handle)))
    take_order()
    tensor.__cuda_array_interface__
    order = take_order()
    assert waits(order, LEGACY, stream.handle) and not blocks(order), order


@pytest.mark.parametrize(("value", "waiting"), [("0", True), ("1", False), (None, False)])
def test_the_current_stream_of_cupy_waits_if_a_switch_lets_it_ignore_ours(stream, theirs, monkeypatch, value, waiting):
    tensor = sf.from_dlpack(Array(ones(4), theirs), stream=stream)
    monkeypatch.setitem(sys.modules, "cupy", Library(Stream()))
    if value is not None:
        monkeypatch.setenv("CUPY_CUDA_ARRAY_INTERFACE_SYNC", value)
    take_order()
    tensor.__cuda_array_interface__
    order = take_order()
    current = sys.modules["cupy"].cuda.get_current_stream().ptr
    assert waits(order, current, stream.handle) == waiting and not blocks(order), order


@pytest.mark.parametrize("switch", SWITCHES)
def test_another_library_that_ignores_the_stream_finds_complete_data(stream, theirs, monkeypatch, switch):
    tensor = sf.from_dlpack(Array(ones(4), theirs), stream=stream)
    for value, waited in (("1", False), ("0", True), (None, False)):
        monkeypatch.delenv(switch, raising=False)
        if value is not None:
            monkeypatch.setenv(switch, value)
        take_order()
        slow(False)
        interface = tensor.__cuda_array_interface__
        order = take_order()
        assert interface["stream"] == stream.handle
        assert (("host asks", stream.handle, 0) in order) == waited, (switch, value, order)
        slow(True)


def test_the_export_version_of_cupy_changes_nothing_by_dlpack(stream, theirs):
    """As CuPy's arrays under `CUPY_CUDA_ARRAY_INTERFACE_EXPORT_VERSION=2`: both protocols, and no stream in one."""

    class Both(Array):
        @property
        def __cuda_array_interface__(self):
            raise AssertionError("DLPack is better")

    tensor = sf.as_tensor(Both(ones(4), theirs), stream=stream)
    reader = used(tensor)
    assert waits(take_order(), reader, theirs.ptr)


# ---- Objects that other libraries make of ours ---------------------------------------------------


def test_a_stream_of_ours_speaks_the_protocols_of_streams(stream):
    assert stream.__cuda_stream__() == (0, stream.handle)
    assert stream.ptr == stream.cuda_stream == stream.handle


def test_work_of_a_library_on_our_stream_is_before_the_export(stream, theirs):
    # The library queues work on the handle, as `with cupy.cuda.Stream.from_external(stream): ...`, which streamflow
    # does not see.
    tensor = sf.zeros(4, stream=stream)
    tensor.__dlpack__(stream=theirs.ptr, max_version=(1, 0))
    take_order()
    tensor.__dlpack__(stream=theirs.ptr, max_version=(1, 0))
    order = take_order()
    assert waits(order, theirs.ptr, stream.handle) and not blocks(order), order


def test_an_opencv_matrix_has_no_protocol():
    matrix = types.SimpleNamespace(cudaPtr=lambda: 256, step=512)
    with pytest.raises(TypeError, match="neither `__dlpack__` nor an array interface"):
        sf.as_tensor(matrix)


def test_a_dlpack_stream_of_minus_1_has_no_side_effects(stream):
    """Numba asks for the type of an argument in this way first, for each launch."""
    tensor = sf.zeros(4, stream=stream)
    order = export(tensor, stream=-1)
    assert not [it for it in order if it[0] in ("wait", "record", "record device")], order
    assert sys.getrefcount(tensor) == 2


# ---- Another device and another context ----------------------------------------------------------


def test_an_array_on_another_device_is_refused_with_the_way(stream, theirs):
    with pytest.raises((BufferError, ValueError), match="device"):
        sf.from_dlpack(Array(ones(4), theirs, device=1), stream=stream)


def test_without_a_stream_the_import_is_on_the_arrays_device(theirs):
    tensor = sf.from_dlpack(Array(ones(4), theirs, device=1))
    assert tensor.stream.device == 1 and tensor.__dlpack_device__() == (2, 1)


def test_an_array_on_a_device_that_does_not_exist(stream, theirs):
    with pytest.raises(BufferError, match="CUDA device 7"):
        sf.from_dlpack(Array(ones(4), theirs, device=7), stream=stream)
    with pytest.raises((BufferError, ValueError), match="device 7"):
        sf.from_dlpack(Array(ones(4), theirs, device=7))


# ---- Memory of the host --------------------------------------------------------------------------


class Only:
    """An object with NumPy's interface alone."""

    def __init__(self, array):
        self.array, self.__array_interface__ = array, array.__array_interface__


class PyTorchs:
    """A tensor of PyTorch on the CPU. If it is page-locked, its device says so, and its structure does not."""

    def __init__(self, array, is_page_locked=False):
        self.array, self.device = array, (CUDA_HOST if is_page_locked else CPU, 0)

    def __dlpack__(self, *, stream=None, copy=None, **arguments):
        # The library would make the copy at once, before the work that is queued on the memory.
        assert stream is None and not (copy and self.device[0] == CUDA_HOST)
        return Managed(self.array).capsule()

    def __dlpack_device__(self):
        return self.device


FORMS = pytest.mark.parametrize("form", [lambda array: array, Only, PyTorchs], ids=["NumPy", "interface", "PyTorch"])
EACH_COPY = pytest.mark.parametrize("copy", [None, True])


@FORMS
@EACH_COPY
def test_an_array_of_the_host_is_copied(stream, form, copy):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = sf.as_tensor(form(array), stream=stream, copy=copy)
    order = take_order()
    # The host waits only for the stream of the copy, and so not for work on the tensor's stream.
    waited = [on for kind, on, _ in order if kind.startswith("host waits")]
    assert len(waited) == 1 and waited[0] != stream.handle, order
    array[:] = -1
    assert tensor.stream is stream and not tensor.read_only and tensor.shape == (2, 3)
    assert tensor.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert sf.live()["adopted"] == 0 or is_back("adopted", 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_type_of_elements_is_copied(stream, dtype):
    array = np.arange(5).astype(dtype)
    for made in (sf.as_tensor(array, stream=stream), sf.as_tensor(Only(array), stream=stream)):
        assert made.dtype == str(dtype) and (made.numpy() == array).all()


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), (), (1, 1, 1)])
def test_an_empty_array_and_a_scalar_are_copied(stream, shape):
    array = np.ones(shape, np.int32)
    for made in (array, Only(array), Managed(array, data=None) if array.size == 0 else array):
        made = of(made) if isinstance(made, Managed) else made
        tensor = sf.as_tensor(made, stream=stream)
        assert tensor.shape == shape and (tensor.numpy() == array).all()


def test_a_copy_of_a_read_only_array_may_be_written(stream):
    array = np.ones(3)
    array.flags.writeable = False
    jaxs = type("Array", (PyTorchs,), {"__module__": "jaxlib._jax"})
    for made in (array, Only(array), jaxs(np.ones(3))):
        assert not sf.as_tensor(made, stream=stream).read_only


@FORMS
def test_copy_false_refuses_an_array_of_the_host(stream, form):
    before = sf.live()
    for import_, arguments in ((sf.as_tensor, {"copy": False}), (sf.from_dlpack, {"copy": False}), (sf.from_dlpack, {})):
        if form is Only and import_ is sf.from_dlpack:
            continue
        with pytest.raises(BufferError, match=r"without a copy; call `as_tensor\(array\)`.*cupy\.asarray"):
            import_(form(ones(3)), stream=stream, **arguments)
    with pytest.raises(BufferError, match=r"as_tensor\(array\)"):
        Scale().x.push(form(ones(3)), copy=False)
    assert take_order() == [] and sf.live() == before


def test_from_dlpack_copies_an_array_of_the_host_if_it_is_asked_to(stream):
    assert (sf.from_dlpack(np.ones(3), stream=stream, copy=True).numpy() == 1).all()


def test_an_array_of_the_host_is_dense_or_is_copied_by_its_library(stream):
    for array in (ones(4, 4).T[1:], ones(4, 4)[:, ::2], ones(4)[::-1]):
        for form in (lambda array: array, Only):
            with pytest.raises(BufferError, match="ascontiguousarray"):
                sf.as_tensor(form(array), stream=stream)
    strided = np.arange(8.0)[::2]
    assert (sf.as_tensor(strided, stream=stream, copy=True).numpy() == strided).all()


def padded():
    """The first columns of a wider array, whose other columns are -77."""
    part = np.full((3, 7), -77, np.float32)[:, :4]
    part[:] = np.arange(12).reshape(3, 4)
    return part


def test_an_array_of_a_gpu_with_padded_rows_is_taken_as_it_is(stream, theirs):
    part = padded()
    named = {"strides": part.strides, "stream": theirs.ptr}
    for made, producer in ((Interface(part, **named), theirs.ptr), (Interface(part, **named, version=2), "device"), (Array(part, theirs), theirs.ptr)):
        take_order()
        tensor = sf.as_tensor(made, stream=stream)
        consumer = used(tensor)
        order = take_order()
        assert waits(order, consumer, producer) and not blocks(order), order
        interface = tensor.__cuda_array_interface__
        assert interface["strides"] == part.strides and interface["data"][0] == part.__array_interface__["data"][0]
        assert (tensor.numpy() == part).all()
    copy = sf.as_tensor(Interface(part, **named), stream=stream, copy=True)
    assert copy.__cuda_array_interface__["strides"] is None and (copy.numpy() == part).all()
    assert (part.base[:, 4:] == -77).all()


def test_a_port_of_dense_tensors_copies_padded_rows_on_its_stream(theirs):
    part = padded()
    graph = Scale()
    take_order()
    graph.x.push(Interface(part, strides=part.strides, stream=theirs.ptr))
    order = take_order()
    assert waits(order, graph.x.stream.handle, theirs.ptr) and not blocks(order), order
    with pytest.raises(BufferError, match=r"takes dense tensors.*\[7, 1\] elements"):
        graph.x.push(Interface(part, strides=part.strides, stream=theirs.ptr), copy=False)


def test_padded_rows_of_the_host_are_copied_to_dense_ones(stream):
    part = padded()
    for made in (part, Only(part), of(Managed(part))):
        tensor = sf.as_tensor(made, stream=stream)
        assert tensor.__cuda_array_interface__["strides"] is None and (tensor.numpy() == part).all()


def test_memory_that_can_hold_no_elements_is_refused(stream):
    array = np.ones(4 * 3 + 1, np.uint8)[1:].view(np.float32)
    with pytest.raises(BufferError, match="not aligned to 4 bytes"):
        sf.as_tensor(PyTorchs(array), stream=stream)
    for address in (0, 2**63, 2**64 - 8):
        interface = {**np.ones(3).__array_interface__, "data": (address, False)}
        with pytest.raises(BufferError, match="can't hold the array"):
            sf.as_tensor(types.SimpleNamespace(__array_interface__=interface), stream=stream)
    with pytest.raises(ValueError, match="beyond the last address"):
        sf.as_tensor(of(Managed(ones(3), byte_offset=2**63)), stream=stream)
    with pytest.raises(BufferError, match="can't hold the array, whose elements are aligned to 4 bytes"):
        sf.as_tensor(Only(array), stream=stream)


@pytest.mark.parametrize("form", [
    lambda array: PyTorchs(array, is_page_locked=True), lambda array: of(Managed(array, kind=CUDA_HOST)),
], ids=["PyTorch", "its DLPack says so"])
def test_page_locked_memory_is_copied_after_all_work_of_the_device(stream, form):
    # Another library may have queued a copy to the page-locked memory.
    slow(False)
    array = np.arange(3.0)
    tensor = sf.as_tensor(form(array), stream=stream, copy=True)
    order = take_order()
    asked = [on for kind, on, _ in order if kind in ("host asks", "host waits")]
    assert asked and waits(order, asked[0], "device"), order
    array[:] = -1
    assert tensor.numpy().tolist() == [0, 1, 2]


def test_page_locked_memory_of_pytorch_is_copied(stream):
    slow(False)
    tensor = sf.as_tensor(PyTorchs(np.arange(3.0), is_page_locked=True), stream=stream)
    assert tensor.numpy().tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="without a copy"):
        sf.as_tensor(PyTorchs(ones(3), is_page_locked=True), stream=stream, copy=False)


def test_a_push_copies_an_array_of_the_host(stream):
    scale, array = Scale(), ones(3)
    scale.x.push(array)
    scale.x.push(array, copy=True)
    array.flags.writeable = False
    scale.x.push(array)
    assert len(scale.x) == 3


@pytest.mark.parametrize("make", [lambda theirs: Array(ones(4), theirs), lambda theirs: Interface(ones(4), stream=theirs.ptr)])
def test_memory_of_a_gpu_is_copied_if_it_is_asked_for(stream, theirs, make):
    array = make(theirs)
    shared, copied = (sf.as_tensor(array, stream=stream, copy=copy) for copy in (None, True))
    if isinstance(array, Array):
        # The library that made the array makes the copy.
        assert array.arguments["copy"] is True
    else:
        addresses = {it.__cuda_array_interface__["data"][0] for it in (shared, copied)}
        assert len(addresses) == 2 and (copied.numpy() == 1).all()


def test_a_tensor_of_streamflow_is_copied_if_it_is_asked_for(stream):
    tensor = sf.zeros(3, stream=stream)
    copied = sf.as_tensor(tensor, copy=True)
    assert copied is not tensor and sf.as_tensor(tensor, copy=False) is tensor
    assert copied.__cuda_array_interface__["data"][0] != tensor.__cuda_array_interface__["data"][0]


def test_other_threads_run_while_an_array_of_the_host_is_copied(stream):
    made = []
    thread = threading.Thread(target=lambda: made.append(sf.as_tensor(ones(3), stream=stream)))
    faulthandler.dump_traceback_later(30, exit=True)
    hold(True)
    try:
        thread.start()
        while held() == 0:
            time.sleep(0.001)
        # Another thread can use the stream of the tensor meanwhile.
        stream.record()
        assert held() == 1 and not made
    finally:
        hold(False)
        faulthandler.cancel_dump_traceback_later()
    thread.join(60)
    assert (made[0].numpy() == 1).all()


# ---- Two platforms, and threads ------------------------------------------------------------------


def test_tensors_of_two_platforms_do_not_mix(stream):
    on_host = sf.Stream(sf.Platform("host"))
    tensor = sf.zeros(4, stream=stream)
    with pytest.raises(BufferError, match="CUDA device 0"):
        sf.from_dlpack(tensor, stream=on_host)
    with pytest.raises(BufferError, match="by the simulator"):
        sf.as_tensor(Interface(ones(4)), stream=on_host)


def test_threads_export_to_their_own_default_streams(stream):
    tensor = sf.zeros(4, stream=stream)
    errors = []

    def work():
        try:
            for _ in range(20):
                tensor.__dlpack__(stream=2, max_version=(1, 0))
                tensor.__dlpack__(stream=1, max_version=(1, 0))
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors


def while_a_copy_is_awaited(tensor, use):
    """Uses something while another thread waits for a copy of a tensor to the host, which ends afterwards. The device may
    need the interpreter for that copy: a stream can call a function of Python."""
    copies = []
    thread = threading.Thread(target=lambda: copies.append(tensor.numpy()))
    # A use that waits while it holds the interpreter lock stops every other thread of Python. `faulthandler` then ends
    # the program, since its thread needs no lock.
    faulthandler.dump_traceback_later(30, exit=True)
    hold(True)
    try:
        thread.start()
        while held() == 0:
            time.sleep(0.001)
        use()
        assert held() == 1
    finally:
        hold(False)
        faulthandler.cancel_dump_traceback_later()
    thread.join(60)
    assert (copies[0] == 0).all()


USES = {
    "device": lambda stream, _: stream.device,
    "handle": lambda stream, _: stream.handle,
    "repr": lambda stream, _: repr(stream),
    "record": lambda stream, _: stream.record(),
    "dlpack device": lambda _, tensor: tensor.__dlpack_device__(),
    "export": lambda _, tensor: tensor.__dlpack__(stream=Stream().ptr),
    "interface": lambda _, tensor: tensor.__cuda_array_interface__,
    "import": lambda stream, _: sf.from_dlpack(Array(ones(4), Stream()), stream=stream),
    "import of an interface": lambda stream, _: sf.as_tensor(Interface(ones(4), stream=None), stream=stream),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_a_stream_is_used_while_a_thread_waits_for_a_copy_of_its_tensor(stream, use):
    tensor = sf.zeros(4, stream=stream)
    while_a_copy_is_awaited(tensor, lambda: use(stream, tensor))


def test_a_tensor_is_dropped_while_a_thread_waits_for_a_copy_of_a_tensor_of_the_work_stream():
    awaited, dropped = imported(managed(sf.zeros(4))), [sf.zeros(4)]
    borrowed(dropped[0])
    while_a_copy_is_awaited(awaited, dropped.clear)


def test_an_exception_of_the_producer_leaves_nothing(stream, theirs):
    before = sf.live()

    class Failing(Array):
        def __dlpack__(self, **arguments):
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")

    for import_ in (sf.from_dlpack, sf.as_tensor):
        with pytest.raises(BufferError, match="tensor.detach"):
            import_(Failing(ones(4), theirs), stream=stream)
    assert sf.live() == before
