"""Events, times between them, and streams of other libraries, on the simulator."""

import ctypes

import pytest

import streamflow as sf

HOST = sf.Platform("host")


class Theirs:
    """A stream of another library."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class WithProtocol:
    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


class Event:
    """An event of another library, by the name of its type."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def test_an_event_is_recorded_waited_for_and_reached(stream):
    event = sf.Event()
    sf.zeros(1000, stream=stream)
    event.record(stream)
    other = sf.Stream(sf.Platform("host"))
    with pytest.raises(sf.Error, match="platform"):
        event.wait(other)
    event.wait(stream)
    stream.wait(event)
    event.synchronize()
    assert event.query() and "streamflow.Event" in repr(event)
    # A later record replaces the first one.
    event.record(stream)
    event.synchronize()


def test_the_time_between_events_is_in_milliseconds():
    platform = sf.Platform("host", seed=3)
    stream, other = sf.Stream(platform), sf.Stream(platform)
    start = sf.Event(timing=True)
    start.record(stream)
    kept = [sf.zeros(1 << 20, stream=stream) for _ in range(3)]
    middle = stream.record(timing=True)
    other.wait(middle)
    end = other.record(timing=True)
    first, all_of_it = start.elapsed_time(middle), start.elapsed_time(end)
    assert 0 < first <= all_of_it and start.elapsed_time(start) == 0
    # In the simulator's model of time, no copy of 12 MiB takes a second.
    assert first < 1000
    with pytest.raises(sf.Error, match="before its start"):
        middle.elapsed_time(start)
    del kept


def test_an_event_that_was_never_recorded_or_has_no_time(stream):
    never = sf.Event(timing=True)
    assert "never recorded" in repr(never)
    for call in (never.query, never.synchronize, lambda: never.wait(stream), lambda: stream.wait(never)):
        with pytest.raises(ValueError, match=r"event\.record\(stream\)"):
            call()
    timed, plain = stream.record(timing=True), stream.record()
    for start, end in ((timed, plain), (plain, timed)):
        with pytest.raises(ValueError, match="timing=True"):
            start.elapsed_time(end)
    with pytest.raises(ValueError, match="never recorded"):
        timed.elapsed_time(never)


def test_the_default_stream_is_asked_for_by_name():
    platform = sf.Platform("host")
    default, own = sf.Stream.default(platform), sf.Stream(platform)
    own.wait(default)
    default.wait(own.record())
    default.synchronize()
    with pytest.raises(ValueError, match="device 4"):
        sf.Stream.default(platform, device=4)


def test_a_stream_of_streamflow_is_returned_as_it_is(stream):
    assert sf.Stream.from_external(stream) is stream


@pytest.mark.parametrize(
    "make",
    [
        lambda handle: handle,
        lambda handle: ctypes.c_void_p(handle),
        lambda handle: WithProtocol((0, handle)),
        lambda handle: Theirs(__cuda_stream__=(0, handle)),
        lambda handle: Theirs(cuda_stream=handle),
        lambda handle: Theirs(ptr=handle),
        lambda handle: Theirs(handle=handle),
        lambda handle: Theirs(handle=ctypes.c_void_p(handle)),
    ],
)
def test_handles_of_default_streams_are_refused_in_each_form(make):
    for handle in (0, 1):
        with pytest.raises(ValueError, match=rf"handle {handle}.*`Stream\.default\(device=0\)`"):
            sf.Stream.from_external(make(handle))
    with pytest.raises(ValueError, match=r"handle 2.*torch\.cuda\.Stream"):
        sf.Stream.from_external(make(2))
    with pytest.raises(ValueError, match="the simulator has no streams of other libraries"):
        sf.Stream.from_external(make(0x1234560), HOST)


def test_what_is_no_stream_is_refused():
    for wrong in (None, "stream", 1.5, object(), Theirs(ptr="x")):
        with pytest.raises(TypeError, match="is no stream; pass its handle"):
            sf.Stream.from_external(wrong)
    with pytest.raises(ValueError, match="-5 is the handle of no stream"):
        sf.Stream.from_external(-5)
    with pytest.raises(TypeError, match="version 1 of `__cuda_stream__`"):
        sf.Stream.from_external(WithProtocol((1, 77)))
    with pytest.raises(TypeError, match="no pair"):
        sf.Stream.from_external(WithProtocol(77))


def test_waiting_for_another_librarys_stream_needs_a_gpu(stream):
    for call in (stream.wait, stream.precede):
        with pytest.raises(RuntimeError, match="no CUDA handle"):
            call(WithProtocol((0, 0x1234560)))
    with pytest.raises(RuntimeError, match="no CUDA handle"):
        stream.wait(Event(ptr=0x1234560))
    with pytest.raises(ValueError, match="never recorded, and has no handle"):
        stream.wait(Event(cuda_event=0))
    for wrong in (7, ctypes.c_void_p(7), object()):
        with pytest.raises(TypeError, match=r"`wait` takes an event or a stream.*from_external\(handle\)"):
            stream.wait(wrong)


def test_streams_precede_each_other():
    platform = sf.Platform("host")
    a, b = sf.Stream(platform), sf.Stream(platform)
    a.precede(b)
    b.synchronize()
    with pytest.raises(sf.Error, match="platform"):
        a.precede(sf.Stream(sf.Platform("host")))
