"""The rules of DLPack's C exchange API on a GPU, by the order that the driver is given: what a library queues on the work
stream, nobody sees."""

import gc

import pytest
from capsules import CUDA, ones
from conftest import is_back
from exchange import borrowed, delete, imported, managed, work_stream
from fake import Interface, Stream, blocks, slow, take_order, waits

import streamflow as sf
from streamflow.demo import Scale


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


@pytest.fixture(params=["the default platform", "another platform"])
def each_stream(request):
    return sf.Stream(None if request.param == "the default platform" else sf.Platform("cuda"))


def by_dlpack(tensor):
    theirs = Stream()
    tensor.__dlpack__(stream=theirs.ptr, max_version=(1, 0))
    return theirs.ptr


def by_interface(tensor):
    return tensor.__cuda_array_interface__["stream"]


def by_copy(tensor):
    """It has a stream of its own, for which the host waits."""
    tensor.numpy()


def used_on(user, order):
    """The stream of a use."""
    return user or next(stream for kind, stream, _ in order if kind == "host waits")


@pytest.mark.parametrize("use", [by_dlpack, by_interface, by_copy])
def test_each_use_after_an_exchange_comes_after_the_work_stream(each_stream, use):
    tensor = sf.zeros(4, stream=each_stream)
    borrowed(tensor)
    work = work_stream(CUDA)
    for _ in range(3):
        # In a real program, the library may have queued more work since the exchange.
        take_order()
        user = use(tensor)
        order = take_order()
        assert waits(order, used_on(user, order), work), order


@pytest.mark.parametrize("use", [by_dlpack, by_interface, by_copy])
def test_a_use_without_an_exchange_does_not_wait_for_the_work_stream(stream, use):
    """The control of the test above."""
    tensor = sf.zeros(4, stream=stream)
    work = work_stream(CUDA)
    take_order()
    user = use(tensor)
    order = take_order()
    assert not waits(order, used_on(user, order), work)


# Pushes to a graph. The graph's stream comes after the stream of its port. The graph does not run in these tests, so
# that every order in the log is from Python.


@pytest.mark.parametrize("is_exchanged", [True, False])
def test_a_push_after_an_exchange_comes_after_the_work_stream(stream, is_exchanged):
    scale, tensor = Scale(), sf.zeros(4, stream=stream)
    work = work_stream(CUDA)
    if is_exchanged:
        borrowed(tensor)
    for _ in range(3):
        # In a real program, the library may have queued more work since the exchange.
        take_order()
        scale.x.push(tensor)
        order = take_order()
        assert waits(order, scale.x.stream.handle, work) == is_exchanged and not blocks(order), order


def test_a_push_comes_after_the_work_of_libraries_on_the_tensors_stream(stream):
    # A library may queue work as `with cupy.cuda.Stream.from_external(tensor.stream): ...`, which streamflow does not
    # see.
    scale, tensor = Scale(), sf.zeros(4, stream=stream)
    for _ in range(3):
        take_order()
        scale.x.push(tensor)
        order = take_order()
        assert waits(order, scale.x.stream.handle, stream.handle) and not blocks(order), order


@pytest.mark.parametrize("export", [borrowed, managed])
def test_an_export_comes_after_the_stream_of_the_tensor(each_stream, export):
    tensor = sf.zeros(4, stream=each_stream)
    exported = export(tensor)
    order = take_order()
    assert waits(order, work_stream(CUDA), each_stream.handle) and not blocks(order), order
    if export is managed:
        delete(exported)


def test_an_export_comes_after_memory_that_came_after_everything(stream):
    tensor = sf.as_tensor(Interface(ones(4)), stream=stream)
    borrowed(tensor)
    order = take_order()
    assert waits(order, work_stream(CUDA), "device") and not blocks(order), order


def test_the_work_stream_comes_after_each_tensor_when_a_library_asks_for_it(each_stream):
    tensor = sf.zeros(4, stream=each_stream)
    take_order()
    work = work_stream(CUDA)
    order = take_order()
    assert waits(order, work, each_stream.handle) and not blocks(order), order
    del tensor


def test_an_import_comes_after_the_work_stream(stream):
    back = imported(managed(sf.zeros(4, stream=stream)))
    work = work_stream(CUDA)
    assert back.stream.handle == work
    take_order()
    user = by_dlpack(back)
    assert waits(take_order(), user, work)


def test_memory_that_an_interface_has_shown_is_used_again_after_all_work(stream):
    # The library has only the address, and may use it on any stream.
    tensor = sf.zeros(4, stream=stream)
    tensor.__cuda_array_interface__
    take_order()
    assert sf.live()["lent"] == 1
    del tensor
    gc.collect()
    assert is_back("lent", 0)
    assert any(kind == "record device" for kind, *_ in take_order())
