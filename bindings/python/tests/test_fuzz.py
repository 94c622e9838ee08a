"""Random capsules, dictionaries and arguments, on the simulator and on a GPU: each is taken or refused by an exception with
a text, nothing crashes, and all memory comes back. `STREAMFLOW_FUZZ_CASES=n` draws `n` cases of each kind in place of
3000."""

import os
import random

import capsules
import numpy as np
import pytest
from capsules import CPU, CUDA, CUDA_HOST, Managed, Producer
from conftest import address, is_back

import streamflow as sf

CASES = int(os.environ.get("STREAMFLOW_FUZZ_CASES", "3000"))
REFUSED = (TypeError, ValueError, BufferError, OverflowError, sf.Error)
DIMS = [0, 1, 2, 3, 4, -1, -(2**63), 2**63 - 1, 2**40]
# The largest number of elements that a shape of these tests has: that of the bytes `b"<f8"`, of complex elements.
ROOM = 2 * 60 * 102 * 56
HUGE = [2**31 - 1, -(2**31), 9, 65, -1]


def refused(error):
    """A text that says more than the name of the exception."""
    return len(str(error)) > 10


class Place:
    """A platform, with memory of its device."""

    def __init__(self, name):
        self.is_gpu = name == "cuda"
        self.stream = sf.Stream(sf.Platform(name))
        if self.is_gpu:
            self.kept = sf.zeros(ROOM, "float64", stream=self.stream)
            self.address = self.kept.__cuda_array_interface__["data"][0]


@pytest.fixture(params=["host", "cuda"])
def place(request):
    if request.param == "cuda" and sf.default_platform().name != "cuda":
        pytest.skip("needs a GPU: " + sf.default_platform().why)
    made = Place(request.param)
    yield made
    made.kept = None
    assert is_back("lent", 0, made.stream)


def structure(draw, place):
    """A structure with up to four changed fields. It never says that there is more memory than there is."""
    array = np.ones((2, 3, 4), draw.choice(["f4", "f8", "i2", "u1", "c8", "b1"]))
    array = draw.choice([array, array[0], array[0, 0], array[0, 0, 0], array[:0], array[:, ::2], array[::-1], array.T])
    array = np.asarray(array)
    changes = {}
    for _ in range(draw.randint(0, 4)):
        key, value = draw.choice([
            ("ndim", draw.choice(HUGE)), ("shape", None), ("strides", None), ("data", None),
            ("kind", draw.choice([0, CUDA, CUDA_HOST, 4, 99, -1])), ("id", draw.choice([1, -1, 2**31 - 1])),
            ("dtype", draw.choice([(0, 0, 0), (9, 4, 1), (2, 32, 4), (255, 255, 65535), (6, 1, 1)])),
            ("byte_offset", draw.choice([1, 2**64 - 1, 2**63])),
            ("major", draw.choice([0, 2, 2**32 - 1])), ("minor", draw.choice([0, 9, 2**32 - 1])),
            ("flags", draw.getrandbits(64)),
        ])
        changes[key] = value
    legacy = draw.random() < 0.4
    if legacy:
        for key in ("major", "minor", "flags"):
            changes.pop(key, None)
    if "byte_offset" in changes and changes["byte_offset"] == 1 and array.itemsize == 1:
        # Without this change the structure would be right, but its shape would go beyond the end of the memory.
        changes["ndim"] = -1
    if changes.get("strides", 1) is None and not array.flags.c_contiguous:
        # A dense array of this shape has at most as many elements as the memory.
        array = np.ascontiguousarray(array)
    if place.is_gpu and changes.get("kind") == CUDA:
        changes.setdefault("data", place.address)
    managed = Managed(array, legacy=legacy, deleter=draw.random() < 0.9, **changes)
    if draw.random() < 0.2:
        # A copy to a GPU would read as many elements as the shape says, so the shape must not be too large.
        dims = [dim for dim in DIMS if dim < 2] if place.is_gpu else DIMS
        managed.shape[draw.randrange(max(array.ndim, 1))] = draw.choice(dims)
    return managed


def test_random_capsules_are_imported_or_refused(place):
    taken, not_taken, given = 0, 0, []
    for seed in range(CASES):
        draw = random.Random(seed)
        managed = structure(draw, place)
        name = draw.choice([None] * 12 + [b"dltensor", b"dltensor_versioned", b"used_dltensor", b"x"])
        if name in (b"dltensor", b"dltensor_versioned"):
            # The capsule's name says whether it has the versioned or the legacy structure.
            name = managed.name
        capsule = managed.capsule(name)
        # The device that the object names may be wrong, too.
        device = draw.choice([(CPU, 0)] * 6 + [(CUDA, 0), (-5, 9), (CUDA_HOST, 0)])
        producer = Producer(lambda _made=capsule, **_: _made, device)
        for _ in range(draw.randint(1, 2)):
            try:
                tensor = draw.choice([sf.from_dlpack, sf.as_tensor])(producer, stream=place.stream)
            except REFUSED as error:
                assert refused(error), (seed, error)
                not_taken += 1
            else:
                # The tensor can be read, unless the structure lies about the memory, which no importer can see.
                is_lie = place.is_gpu and managed.structure.tensor.device.kind == CUDA_HOST
                if not is_lie and tensor.size <= managed.array.size and tensor.dtype in ("float32", "float64", "int16", "uint8"):
                    assert tensor.numpy().shape == tensor.shape
                del tensor
                taken += 1
        if capsules.name_of(capsule).startswith(b"used_") and name != b"used_dltensor":
            given.append(managed)
        else:
            managed.discard()
    assert taken > CASES / 20 and not_taken > CASES / 4, (taken, not_taken)
    # Each deleter was called once: the fixture has waited for the last one, and no count exceeds one.
    for _ in range(3):
        sf.empty(1)
    assert all(managed.deleted <= 1 for managed in given)


VALUES = [
    None, 0, 1, 2, 3, -1, 2**31 + 1, 2**63, -(2**63), 2**64, 2**70, 1.5, float("nan"), "", "x", "<f8", ">f8", "|u1", "<c16",
    "<f4\0", "é", "<f99999999999", b"<f8", (), [], (0,), (3,), (4,), (-4,), [2, 2], (2**62, 2**62), (1,) * 70, (8,), (16, 8),
    (2**63,), {}, {"stream": 1}, object(), type, (0, False), (None, None), (0, "x"), (1, 2, 3), np.int64(3), np.zeros(2),
    True, [("", "<f8")],
]


class Exporter:
    pass


def test_random_dictionaries_are_imported_or_refused(place):
    array, taken = np.arange(float(ROOM)), 0
    for seed in range(CASES):
        draw = random.Random(seed)
        name = draw.choice(["__array_interface__", "__array_interface__", "__cuda_array_interface__"])
        is_on_gpu = place.is_gpu and name == "__cuda_array_interface__"
        at = place.address if is_on_gpu else address(array)
        interface = {**array[:4].__array_interface__, "data": (at, False), "stream": draw.choice([None, 1, 2, 64])}
        for key in draw.sample(["shape", "typestr", "strides", "data", "mask", "version", "stream", "descr"], draw.randint(0, 4)):
            if draw.random() < 0.2:
                interface.pop(key, None)
            else:
                interface[key] = draw.choice(VALUES)
        if draw.random() < 0.05:
            interface = draw.choice(VALUES)
        exporter = Exporter()
        exporter.keep = array
        setattr(exporter, name, interface)
        try:
            tensor = sf.as_tensor(exporter, stream=place.stream)
        except REFUSED as error:
            assert refused(error), (seed, error)
        else:
            # The exporter of an address guarantees that it is valid, so these dictionaries have only the address of
            # the array itself.
            if is_on_gpu:
                assert tensor.size == 0 or tensor.__cuda_array_interface__["data"][0] == at, seed
            elif not place.is_gpu:
                assert tensor.size == 0 or address(tensor.numpy()) == at, seed
            taken += 1
    assert taken > CASES / 50, taken


def test_random_arguments_are_taken_or_refused(place):
    tensor, array = sf.zeros((2, 2), stream=place.stream), np.zeros((2, 2))
    values = [*VALUES, (1, 0), (2, 0), (1, 2**40), (0, 8), (1, 3), (1, 0, 0), False]
    taken = 0
    for seed in range(CASES):
        draw = random.Random(seed)
        names = draw.sample(["stream", "max_version", "dl_device", "copy"], draw.randint(0, 3))
        arguments = {name: draw.choice(values) for name in names}
        try:
            tensor.__dlpack__(**arguments)
            taken += 1
        except REFUSED as error:
            assert refused(error), (seed, error)
        for call, first in ((sf.zeros, draw.choice(values)), (sf.from_dlpack, array), (sf.as_tensor, array)):
            extra = {"stream": place.stream, draw.choice(["dtype", "stream", "copy", "shape"]): draw.choice(values)}
            if call is sf.zeros and isinstance(first, (int, np.integer, float)) and abs(first) > 2**20:
                continue
            try:
                call(first, **extra)
            except (*REFUSED, MemoryError) as error:
                assert refused(error) or isinstance(error, MemoryError), (seed, error)
    assert taken > CASES / 20, taken


def test_random_objects_have_no_protocol(place):
    class Lies:
        def __init__(self, made, device):
            self.made, self.device = made, device

        def __dlpack__(self, **_):
            return self.made

        def __dlpack_device__(self):
            return self.device

    for seed in range(CASES // 3):
        draw = random.Random(seed)
        made = draw.choice([*VALUES, sf.zeros(1), sf.zeros(1).__dlpack__])
        try:
            sf.from_dlpack(Lies(made, draw.choice([*VALUES, (CPU, 0), (CPU, 0)])), stream=place.stream)
        except REFUSED as error:
            assert refused(error), (seed, error)
        else:
            raise AssertionError(seed)
