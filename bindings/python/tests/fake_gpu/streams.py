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


@pytest.mark.parametrize("what", ["stream", "event"])
def test_the_host_waits_for_a_stream_and_an_event(stream, what):
    waited = stream if what == "stream" else stream.record()
    assert not waited.query()
    slow(False)
    waited.synchronize()
    assert waited.query()
