"""The CUDA driver by ctypes: streams, a slow kernel and copies, without another library."""

import ctypes

import numpy as np

# A kernel whose threads each wait for a time and then write an element.
PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry spin(
    .param .u64 out, .param .u32 len, .param .u32 bits, .param .u64 nanoseconds)
{
    .reg .pred %p<3>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [len];
    ld.param.u32 %r2, [bits];
    ld.param.u64 %rd2, [nanoseconds];
    mov.u64 %rd3, %globaltimer;
AGAIN:
    mov.u64 %rd4, %globaltimer;
    sub.u64 %rd5, %rd4, %rd3;
    setp.lt.u64 %p1, %rd5, %rd2;
    @%p1 bra AGAIN;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p2, %r6, %r1;
    @%p2 bra END;
    cvta.to.global.u64 %rd6, %rd1;
    mul.wide.u32 %rd7, %r6, 4;
    add.u64 %rd6, %rd6, %rd7;
    st.global.u32 [%rd6], %r2;
END:
    ret;
}
"""

_CUDA = None


def load():
    """The driver, with the primary context of device 0 current."""
    global _CUDA
    if _CUDA is None:
        _CUDA = ctypes.CDLL("libcuda.so.1")
        call("cuInit", 0)
        context = ctypes.c_void_p()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
    return _CUDA


def call(name, *arguments):
    """Calls a function of the driver."""
    code = getattr(_CUDA or load(), name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _CUDA.cuGetErrorName(code, ctypes.byref(text))
        raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")


class Stream:
    """A non-blocking stream: no default stream orders it."""

    def __init__(self):
        load()
        handle = ctypes.c_void_p()
        call("cuStreamCreate", ctypes.byref(handle), 1)
        self.handle = handle.value

    def __cuda_stream__(self):
        return (0, self.handle)

    def synchronize(self):
        synchronize(self.handle)


def synchronize(stream):
    call("cuStreamSynchronize", ctypes.c_void_p(stream))


def synchronize_all():
    load()
    call("cuCtxSynchronize")


_FUNCTION = None


def spin(stream, pointer, count, value, milliseconds=100):
    """Queues a kernel that writes `value` to `count` floats after a time."""
    global _FUNCTION
    if _FUNCTION is None:
        load()
        module, _FUNCTION = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), PTX)
        call("cuModuleGetFunction", ctypes.byref(_FUNCTION), module, b"spin")
    bits = int(np.float32(value).view(np.uint32))
    values = [
        ctypes.c_uint64(pointer), ctypes.c_uint32(count), ctypes.c_uint32(bits), ctypes.c_uint64(int(milliseconds * 1e6)),
    ]
    arguments = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
    blocks = -(-count // 256)
    call("cuLaunchKernel", _FUNCTION, blocks, 1, 1, 256, 1, 1, 0, ctypes.c_void_p(stream), arguments, None)


class Pinned:
    """Page-locked memory, so that copies to it don't block."""

    def __init__(self, count):
        load()
        pointer = ctypes.c_void_p()
        call("cuMemAllocHost_v2", ctypes.byref(pointer), ctypes.c_size_t(4 * count))
        self.pointer = pointer.value
        self.array = np.ctypeslib.as_array((ctypes.c_float * count).from_address(self.pointer))


_PINNED = []


def read(stream, pointer, count):
    """Queues a copy to the host. The function that this returns waits for it."""
    pinned = _PINNED.pop() if _PINNED and len(_PINNED[-1].array) == count else Pinned(count)
    pinned.array[:] = -1
    call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(pinned.pointer), ctypes.c_uint64(pointer), ctypes.c_size_t(4 * count), ctypes.c_void_p(stream))

    def result():
        synchronize(stream)
        found = pinned.array.copy()
        _PINNED.append(pinned)
        return found

    return result


def fill(stream, pointer, count, byte):
    """Queues a memset."""
    call("cuMemsetD8Async", ctypes.c_uint64(pointer), ctypes.c_ubyte(byte), ctypes.c_size_t(4 * count), ctypes.c_void_p(stream))
