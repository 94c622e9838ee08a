"""A library in C with DLPack's exchange API, played by ctypes: the structures of `dlpack.h` 1.3, and calls of the table."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_uint32, c_uint64, c_void_p

import streamflow as sf


class Version(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32)]


class Device(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("id", c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Plain(ctypes.Structure):
    """`DLTensor`."""

    _fields_ = [
        ("data", c_void_p),
        ("device", Device),
        ("ndim", c_int32),
        ("dtype", DataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]

    def dims(self):
        return self.shape[: self.ndim], self.strides[: self.ndim]


class Managed(ctypes.Structure):
    """`DLManagedTensorVersioned`."""


DELETER = ctypes.CFUNCTYPE(None, POINTER(Managed))
Managed._fields_ = [
    ("version", Version),
    ("context", c_void_p),
    ("deleter", DELETER),
    ("flags", c_uint64),
    ("tensor", Plain),
]

# PYFUNCTYPE: these functions are called with the interpreter lock, and exceptions that they set are raised.
SET_ERROR = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
FROM_OBJECT = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(POINTER(Managed)))
TO_OBJECT = ctypes.PYFUNCTYPE(c_int, POINTER(Managed), POINTER(c_void_p))
BORROW = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(Plain))
STREAM = ctypes.PYFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))
# CFUNCTYPE: the allocator is called without the interpreter lock.
ALLOCATE = ctypes.CFUNCTYPE(c_int, POINTER(Plain), POINTER(POINTER(Managed)), c_void_p, SET_ERROR)


class Api(ctypes.Structure):
    _fields_ = [
        ("version", Version),
        ("prev_api", c_void_p),
        ("allocate", ALLOCATE),
        ("from_object", FROM_OBJECT),
        ("to_object", TO_OBJECT),
        ("borrow", BORROW),
        ("current_work_stream", STREAM),
    ]


def table(ty=sf.Tensor):
    """The table of a type, as a consumer gets it."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    pointer = get(ty.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
    return ctypes.cast(pointer, POINTER(Api)).contents


API = table()


def managed(tensor):
    """The tensor, with an owner. Its deleter must be called."""
    out = POINTER(Managed)()
    assert API.from_object(tensor, byref(out)) == 0
    return out


def borrowed(tensor):
    out = Plain()
    assert API.borrow(tensor, byref(out)) == 0
    return out


def delete(out):
    out.contents.deleter(out)


def imported(pointer):
    """A structure as a tensor of streamflow, which owns it."""
    out = c_void_p()
    assert API.to_object(pointer, byref(out)) == 0
    tensor = ctypes.cast(out, ctypes.py_object).value
    # The pointer owned a reference to the object, which is given back.
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(tensor))
    return tensor


def work_stream(kind, number=0):
    out = c_void_p(1)
    assert API.current_work_stream(kind, number, byref(out)) == 0
    return out.value


def allocated(shape, dtype=(2, 32), device=(1, 0), out=True, rank=None):
    """A new structure, or the kind and the text of the error."""
    dims = (c_int64 * max(len(shape), 1))(*shape)
    ndim = len(shape) if rank is None else rank
    prototype = Plain(None, Device(*device), ndim, DataType(*dtype, 1), dims, None, 0)
    made, errors = POINTER(Managed)(), []
    note = SET_ERROR(lambda _, kind, text: errors.append((kind.decode(), text.decode())))
    code = API.allocate(byref(prototype), byref(made) if out else None, None, note)
    assert (code == 0) == (not errors) == bool(made)
    return errors[0] if errors else made
