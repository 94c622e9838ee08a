"""DLPack's structures by ctypes: capsules with any content, and a count of the calls of their deleters."""

import ctypes
import threading

import numpy as np

_GET_NAME = ctypes.pythonapi.PyCapsule_GetName
_GET_NAME.restype, _GET_NAME.argtypes = ctypes.c_char_p, [ctypes.py_object]
_NEW = ctypes.pythonapi.PyCapsule_New
_NEW.restype, _NEW.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
VERSIONED, LEGACY = b"dltensor_versioned", b"dltensor"
READ_ONLY, IS_COPIED = 1, 2
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Plain(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Plain),
    ]


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Plain), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


# The objects that must live until the deleter of a structure is called, by the structure's address.
_alive = {}


@DELETER
def _delete(structure):
    made = _alive.pop(structure)
    made.threads.append(threading.get_ident())
    made.deleted += 1


_KEPT = []


class Managed:
    """A structure for an array, with changes, as for example `ndim=3` or `flags=READ_ONLY`. A capsule is made by
    `capsule`."""

    def __init__(self, array, *, legacy=False, deleter=True, **changes):
        self.array, self.deleted, self.threads = array, 0, []
        rank = array.ndim
        item = max(array.itemsize, 1)
        self.shape = (ctypes.c_int64 * max(rank, 1))(*array.shape)
        self.strides = (ctypes.c_int64 * max(rank, 1))(*(step // item for step in array.strides))
        self.structure = Legacy() if legacy else Versioned(major=1, minor=3)
        plain = self.structure.tensor
        plain.data = array.__array_interface__["data"][0]
        plain.device = Device(changes.pop("kind", CPU), changes.pop("id", 0))
        plain.ndim = rank
        dtype = (CODES[array.dtype.kind], 8 * array.dtype.itemsize, 1)
        plain.dtype = DataType(*changes.pop("dtype", dtype))
        plain.shape, plain.strides = ctypes.addressof(self.shape), ctypes.addressof(self.strides)
        for name, value in changes.items():
            setattr(plain if hasattr(Plain, name) else self.structure, name, value)
        self.address = ctypes.addressof(self.structure)
        self.name = LEGACY if legacy else VERSIONED
        if deleter:
            self.structure.deleter = ctypes.cast(_delete, ctypes.c_void_p).value
            _alive[self.address] = self
        else:
            _KEPT.append(self)

    def capsule(self, name=None):
        """A capsule without a destructor. The name is kept as long as the process."""
        name = self.name if name is None else name
        _KEPT.append(name)
        return _NEW(self.address, name, None)

    def discard(self):
        """Frees a structure that nobody has taken."""
        _alive.pop(self.address, None)


class Producer:
    """An object with DLPack's methods. `make` gets the arguments of `__dlpack__`."""

    def __init__(self, make, device=(CPU, 0)):
        self.make, self.device, self.calls = make, device, []

    def __dlpack__(self, **arguments):
        self.calls.append(arguments)
        return self.make(**arguments)

    def __dlpack_device__(self):
        return self.device


def of(managed, name=None):
    """A producer with one capsule of a structure."""
    device = managed.structure.tensor.device
    return Producer(lambda **_: managed.capsule(name), (device.kind, device.id))


def name_of(capsule):
    """The name of a capsule."""
    return _GET_NAME(capsule)


def ones(*shape, dtype=np.float32):
    """An array of ones."""
    return np.ones(shape, dtype)
