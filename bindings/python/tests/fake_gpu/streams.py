"""Each wait of a stream, by the order that the driver is given."""

import types

import pytest
from fake import LEGACY, Stream, blocks, slow, take_order, waits

import streamflow as sf


@pytest.fixture(autouse=True)
def unfinished():
    """Queries say that all work is unfinished, so that no wait is left out."""
    sf.zeros(1)
    slow(True)
    yield
    slow(False)


@pytest.fixture
def stream():
    return sf.Stream()


@pytest.fixture
def theirs():
    return Stream()


def by_event(later, earlier):
    later.wait(earlier.record())


def by_method_of_the_event(later, earlier):
    event = sf.Event()
    event.record(earlier)
    event.wait(later)


def by_stream(later, earlier):
    later.wait(earlier)


def by_precede(later, earlier):
    earlier.precede(later)


@pytest.mark.parametrize("order_them", [by_event, by_method_of_the_event, by_stream, by_precede])
def test_a_stream_waits_for_another(stream, order_them):
    other = sf.Stream()
    take_order()
    order_them(other, stream)
    order = take_order()
    assert waits(order, other.handle, stream.handle) and not waits(order, stream.handle, other.handle), order
    assert not blocks(order), order


def test_a_stream_waits_for_one_of_another_library(stream, theirs):
    take_order()
    stream.wait(theirs)
    order = take_order()
    assert waits(order, stream.handle, theirs.ptr) and not blocks(order), order
    stream.precede(theirs)
    order = take_order()
    assert waits(order, theirs.ptr, stream.handle) and not blocks(order), order


@pytest.mark.parametrize("handle", [0, 1])
def test_a_stream_waits_for_the_default_stream(stream, handle):
    take_order()
    stream.precede(handle)
    order = take_order()
    assert waits(order, LEGACY, stream.handle) and not blocks(order), order


def test_a_stream_waits_for_an_event_of_another_library(stream, theirs):
    event = type("Event", (types.SimpleNamespace,), {})(ptr=theirs.event())
    stream.wait(event)
    order = take_order()
    assert ("wait", stream.handle, event.ptr) in order and not blocks(order), order


class WithProtocol:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


@pytest.mark.parametrize("handle", [3, 4095, 0x1234564, 2**56])
def test_a_number_that_is_no_handle_is_refused_by_each_call(stream, handle):
    event = type("Event", (types.SimpleNamespace,), {})(ptr=handle)
    take_order()
    for call, what in (
        (lambda: sf.Stream.from_external(handle), "stream"),
        (lambda: sf.Stream.from_external(WithProtocol(handle)), "stream"),
        (lambda: stream.precede(handle), "stream"),
        (lambda: stream.wait(WithProtocol(handle)), "stream"),
        (lambda: stream.wait(event), "event"),
    ):
        with pytest.raises(ValueError, match=rf"^{handle} is the handle of no {what}: a handle is an address"):
            call()
    assert not any(kind == "wait" for kind, *_ in take_order())


def test_a_number_below_0_or_beyond_64_bits_is_named(stream):
    event = type("Event", (types.SimpleNamespace,), {})(ptr=-5)
    with pytest.raises(ValueError, match="-5 is the handle of no event"):
        stream.wait(event)
    for call in (sf.Stream.from_external, stream.precede):
        with pytest.raises(ValueError, match="-5 is the handle of no stream"):
            call(-5)
        with pytest.raises(TypeError, match=rf"{2**64} is no stream; pass its handle"):
            call(2**64)


@pytest.mark.parametrize("what", ["stream", "event"])
def test_the_host_waits_for_a_stream_and_an_event(stream, what):
    waited = stream if what == "stream" else stream.record()
    assert not waited.query()
    slow(False)
    waited.synchronize()
    assert waited.query()
