"""A `libcuda` without a GPU, from tests/fake_cuda of the repository, and libraries that use it as CuPy and PyTorch use
CUDA: with streams of their own, and with arrays whose memory is NumPy's.

The tests of this folder need it on the library path: `.ci/run python` does that. Its work executes at once, so the tests
look at the order that streams are given."""

import ctypes
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))

from capsules import CUDA, Managed  # noqa: E402

import streamflow as sf  # noqa: E402

try:
    LIBRARY = ctypes.CDLL("libcuda.so")
    _take = LIBRARY.streamflow_fake_take_order
except (OSError, AttributeError):
    pytest.skip("needs the fake libcuda on LD_LIBRARY_PATH, see .ci/run", allow_module_level=True)

_take.restype, _take.argtypes = ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_size_t]
LEGACY, PER_THREAD = 1, 2
_KINDS = {1: "record", 2: "record device", 3: "wait", 4: "host waits", 5: "host waits for device", 6: "host asks"}


def take_order():
    """The calls since the last time: for example `("wait", stream, event)`."""
    numbers = (ctypes.c_uint64 * (3 * 100_000))()
    count = _take(numbers, 100_000)
    return [(_KINDS[numbers[at]], numbers[at + 1], numbers[at + 2]) for at in range(0, 3 * count, 3)]


def slow(is_slow):
    """Whether queries say that work is not complete."""
    LIBRARY.streamflow_fake_slow(int(is_slow))


def hold(is_on):
    """Whether threads that wait for a stream or an event are held."""
    LIBRARY.streamflow_fake_hold(int(is_on))


def held():
    """How many threads are held."""
    return LIBRARY.streamflow_fake_held()


def blocks(order):
    """Whether the host has waited."""
    return any(kind.startswith("host waits") for kind, *_ in order)


def _default(stream):
    # Replaces 0, the driver's other name of the legacy default stream.
    return LEGACY if stream == 0 else stream


def waits(order, waiting, of):
    """Whether the stream `waiting` waits, by events, for what the stream `of` had: `of` is a handle, or "device"."""
    after, records = {}, {}
    for kind, a, b in order:
        if kind == "record":
            records[a] = after.get(_default(b), set()) | {_default(b)}
        elif kind == "record device":
            records[a] = {"device"}
        elif kind == "wait":
            after.setdefault(_default(a), set()).update(records.get(b, set()))
    return _default(of) in after.get(_default(waiting), set()) or of == waiting


def check(code):
    assert code == 0, code


class Stream:
    """A non-blocking stream of another library, with that library's methods."""

    def __init__(self):
        sf.default_platform()
        sf.Stream()
        handle = ctypes.c_uint64()
        check(LIBRARY.cuStreamCreateWithPriority(ctypes.byref(handle), 1, 0))
        self.ptr = handle.value

    def destroy(self):
        check(LIBRARY.cuStreamDestroy_v2(ctypes.c_void_p(self.ptr)))

    def __cuda_stream__(self):
        return (0, self.ptr)

    def event(self):
        """An event behind all work of the stream."""
        event = ctypes.c_uint64()
        check(LIBRARY.cuEventCreate(ctypes.byref(event), 2))
        check(LIBRARY.cuEventRecord(ctypes.c_void_p(event.value), ctypes.c_void_p(self.ptr)))
        return event.value

    def wait(self, event):
        check(LIBRARY.cuStreamWaitEvent(ctypes.c_void_p(self.ptr), ctypes.c_void_p(event), 0))


class Array:
    """An array of a library that follows DLPack: its `__dlpack__` makes the consumer's stream wait."""

    def __init__(self, array, stream, device=0, **changes):
        self.array, self.stream, self.id, self.changes = array, stream, device, changes
        self.arguments = None

    def __dlpack_device__(self):
        return (self.changes.get("kind", CUDA), self.id)

    def __dlpack__(self, **arguments):
        self.arguments = arguments
        stream = arguments.get("stream", -1)
        if stream != -1 and stream is not None:
            assert type(stream) is int
            event, theirs = self.stream.event(), Stream.__new__(Stream)
            theirs.ptr = 0 if stream == LEGACY else stream
            theirs.wait(event)
        return Managed(self.array, **{"kind": CUDA, "id": self.id, **self.changes}).capsule()


class Interface:
    """An object with a CUDA array interface alone."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "strides": None, "version": 3,
            "data": (array.__array_interface__["data"][0], False), **changes,
        }
