"""One class for each library: how it makes, reads and hands over arrays, each on a non-blocking stream.

- `make(value)` makes an array that is complete; `pointer(array)` is its address;
- `slow(array, value)` queues a kernel of about 100 ms on the library's stream that writes the array, and returns the array;
- `give(array)` is what streamflow imports, by `as_tensor`; `give_unordered` is that without the order;
- `take(tensor)` is the tensor as an array of the library, ordered on its stream; `take_unordered` is that without;
- `read(array)` queues a copy to the host on the library's stream; the function that it returns waits for it.

`BLOCKS_OUT` and `BLOCKS_IN` say that the library waits on the host by design, so that a hand-over takes as long as the
kernel. `SHARES_OUT` is false where the library makes a copy or a result."""

import time

import device_calls
import numpy as np

LEN = 1 << 16


class Unordered:
    """A tensor that makes nobody wait."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **arguments):
        return self.tensor.__dlpack__(**{**arguments, "stream": -1})

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    @property
    def __cuda_array_interface__(self):
        data = (pointer_of(self.tensor), False)
        return {"shape": self.tensor.shape, "typestr": "<f4", "version": 3, "strides": None, "data": data, "stream": None}


POINTERS = {}


def pointer_of(tensor):
    """The address of a tensor, noted before its slow kernel is queued."""
    return POINTERS[id(tensor)]


class Elsewhere:
    """An array whose producer orders another stream than the one that asks."""

    def __init__(self, array):
        self.array, self.stream = array, device_calls.Stream()

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**{**arguments, "stream": self.stream.handle})

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Library:
    """What most libraries do."""

    MODULE, NOTES, BLOCKS_OUT, BLOCKS_IN = "", "", False, False
    IN = SHARES_OUT = True

    def __init__(self):
        self.stream = device_calls.Stream()

    def slow(self, array, value):
        device_calls.spin(self.stream.handle, self.pointer(array), LEN, value)
        return array

    def give(self, array):
        return array

    def give_unordered(self, array):
        return Elsewhere(array)

    def read(self, array):
        return device_calls.read(self.stream.handle, self.pointer(array), LEN)

    def let_go(self):
        """Lets go of arrays that the library keeps after its last use."""

    def take_unordered(self, tensor):
        return self.take(Unordered(tensor))


class CuPy(Library):
    MODULE = "cupy"

    def __init__(self):
        super().__init__()
        import cupy

        self.cupy, self.theirs = cupy, external(cupy, self.stream)

    def make(self, value):
        with self.theirs:
            array = self.cupy.full(LEN, value, self.cupy.float32)
        self.stream.synchronize()
        return array

    def pointer(self, array):
        return array.data.ptr

    def give(self, array):
        self.theirs.use()
        return array

    def take(self, tensor):
        with self.theirs:
            return self.cupy.from_dlpack(tensor)


def external(cupy, stream):
    made = getattr(cupy.cuda.Stream, "from_external", None)
    return made(stream) if made else cupy.cuda.ExternalStream(stream.handle)


class CuPyInterface(CuPy):
    NOTES, BLOCKS_OUT = "cupy.asarray waits on the host", True

    class Only:
        def __init__(self, interface):
            self.__cuda_array_interface__ = interface

    def give(self, array):
        with self.theirs:
            only = self.Only(array.__cuda_array_interface__)
        only.keep = array
        return only

    def give_unordered(self, array):
        return self.Only({**array.__cuda_array_interface__, "stream": device_calls.Stream().handle})

    def take(self, tensor):
        with self.theirs:
            return self.cupy.asarray(tensor)


class PyTorch(Library):
    MODULE = "torch"

    def __init__(self):
        super().__init__()
        import torch

        self.torch, self.theirs = torch, torch.cuda.ExternalStream(self.stream.handle)

    def make(self, value):
        with self.torch.cuda.stream(self.theirs):
            array = self.torch.full((LEN,), float(value), device="cuda")
        self.stream.synchronize()
        return array

    def pointer(self, array):
        return array.data_ptr()

    def give(self, array):
        self.torch.cuda.set_stream(self.theirs)
        return array

    def take(self, tensor):
        with self.torch.cuda.stream(self.theirs):
            return self.torch.from_dlpack(tensor)


class PyTorchInterface(PyTorch):
    NOTES = "version 2, without a stream: ordered after all work of the device, and by PyTorch's current stream"

    def give(self, array):
        only = CuPyInterface.Only(array.__cuda_array_interface__)
        only.keep = array
        return only

    def give_unordered(self, array):
        interface = {**array.__cuda_array_interface__, "version": 3, "stream": device_calls.Stream().handle}
        return CuPyInterface.Only(interface)

    def take(self, tensor):
        with self.torch.cuda.stream(self.theirs):
            return self.torch.as_tensor(tensor, device="cuda")


class Jax(Library):
    MODULE = "jax"

    def __init__(self):
        super().__init__()
        import jax
        import jax.numpy as jnp

        self.jax, self.jnp = jax, jnp
        square = jnp.full((4096, 4096), 1e-3, jnp.float32)

        def work(value, rounds):
            x = jax.lax.fori_loop(0, rounds, lambda _, x: jnp.tanh(x @ square), square)
            return jnp.full(LEN, value) + 0 * x[0, 0]

        self.work = jax.jit(work)
        self.rounds = 10
        for _ in range(2):
            self.work(jnp.float32(0), self.rounds).block_until_ready()
        begun = time.perf_counter()
        self.work(jnp.float32(0), self.rounds).block_until_ready()
        self.rounds = max(1, int(self.rounds * 0.1 / (time.perf_counter() - begun)))

    def make(self, value):
        return self.jnp.full(LEN, value, self.jnp.float32).block_until_ready()

    def slow(self, array, value):
        return self.work(self.jnp.float32(value), self.rounds)

    def pointer(self, array):
        return array.unsafe_buffer_pointer()

    def take(self, tensor):
        return self.jnp.from_dlpack(tensor)

    def read(self, array):
        array.copy_to_host_async()
        return lambda: np.asarray(array)


class Numba(Library):
    MODULE = "numba.cuda"
    NOTES, BLOCKS_OUT = "cuda.as_cuda_array waits on the host", True

    def __init__(self):
        super().__init__()
        from numba import cuda as numba

        self.numba, self.theirs = numba, numba.external_stream(self.stream.handle)

    def make(self, value):
        array = self.numba.to_device(np.full(LEN, value, np.float32), stream=self.theirs)
        self.stream.synchronize()
        return array

    def pointer(self, array):
        return array.__cuda_array_interface__["data"][0]

    def give(self, array):
        only = CuPyInterface.Only(array.__cuda_array_interface__)
        only.keep = array
        return only

    def give_unordered(self, array):
        return CuPyInterface.Only({**array.__cuda_array_interface__, "stream": device_calls.Stream().handle})

    def take(self, tensor):
        return self.numba.as_cuda_array(tensor)

    def take_unordered(self, tensor):
        return self.numba.as_cuda_array(Unordered(tensor), sync=False)


class CudaCore(Library):
    MODULE = "cuda.core"
    NOTES = "Buffer.__dlpack__ ignores the stream: ordered after all work of the device"

    def __init__(self):
        super().__init__()
        try:
            from cuda.core import Device
            from cuda.core.utils import StridedMemoryView
        except ImportError:
            from cuda.core.experimental import Device
            from cuda.core.experimental.utils import StridedMemoryView
        self.device, self.view = Device(0), StridedMemoryView
        self.device.set_current()
        self.theirs = self.device.create_stream(self.stream)

    def make(self, value):
        buffer = self.device.allocate(4 * LEN, stream=self.theirs)
        bits = np.full(LEN, value, np.float32)
        device_calls.call("cuMemcpyHtoDAsync_v2", buffer_pointer(buffer), bits.ctypes.data_as(device_calls.ctypes.c_void_p), device_calls.ctypes.c_size_t(4 * LEN), device_calls.ctypes.c_void_p(self.stream.handle))
        self.stream.synchronize()
        return buffer

    def pointer(self, array):
        return int(array.handle) if hasattr(array, "handle") else int(array.ptr)

    def give_unordered(self, array):
        only = CuPyInterface.Only({
            "shape": (4 * LEN,), "typestr": "|i1", "version": 3, "strides": None,
            "data": (self.pointer(array), False), "stream": device_calls.Stream().handle,
        })
        only.keep = array
        return only

    def take(self, tensor):
        made = getattr(self.view, "from_any_interface", None) or self.view
        return made(tensor, stream_ptr=self.stream.handle)


def buffer_pointer(buffer):
    return device_calls.ctypes.c_uint64(int(buffer.handle))


class Rmm(Library):
    MODULE = "rmm"
    NOTES = "version 0, without a stream: ordered after all work of the device; out: a copy on our stream"
    SHARES_OUT, on = False, None

    def __init__(self):
        super().__init__()
        import rmm
        from rmm.pylibrmm.stream import Stream

        self.rmm, self.theirs, self.make_stream = rmm, Stream(self.stream), Stream
        # A pool is used, since an allocation by CUDA itself can wait for the slow kernel.
        rmm.reinitialize(pool_allocator=True, initial_pool_size=1 << 26)

    def make(self, value):
        buffer = self.rmm.DeviceBuffer.to_device(np.full(LEN, value, np.float32).tobytes(), stream=self.theirs)
        self.stream.synchronize()
        return buffer

    def pointer(self, array):
        return array.ptr

    def give_unordered(self, array):
        only = CuPyInterface.Only({**array.__cuda_array_interface__, "version": 3, "stream": device_calls.Stream().handle})
        only.keep = array
        return only

    def take(self, tensor):
        # RMM can't import a tensor. A copy on the tensor's own stream is in order without further waits.
        self.on = tensor.stream.handle
        return self.rmm.DeviceBuffer(ptr=pointer_of(tensor), size=4 * LEN, stream=self.make_stream(tensor.stream))

    def take_unordered(self, tensor):
        self.on = self.stream.handle
        return self.rmm.DeviceBuffer(ptr=pointer_of(tensor), size=4 * LEN, stream=self.theirs)

    def read(self, array):
        return device_calls.read(self.on or self.stream.handle, array.ptr, LEN)


class NvMath(CuPy):
    MODULE = "nvmath"
    NOTES, SHARES_OUT = "an inverse FFT of an FFT, through CuPy's arrays on our stream", False

    def __init__(self):
        super().__init__()
        import nvmath

        self.inverse = nvmath.fft.FFTDirection.INVERSE
        # The plan is made once, before the measurements, since making it can wait for the device.
        with self.theirs:
            self.fft = nvmath.fft.FFT(self.make(0).astype("complex64"), stream=self.theirs)
            self.fft.plan(stream=self.theirs)

    def transform(self, array):
        with self.theirs:
            self.fft.reset_operand(array.astype("complex64"), stream=self.theirs)
            self.fft.reset_operand(self.fft.execute(stream=self.theirs), stream=self.theirs)
            back = self.fft.execute(direction=self.inverse, stream=self.theirs)
            return self.cupy.ascontiguousarray((back.real / LEN).round())

    def take(self, tensor):
        return self.transform(super().take(tensor))


class TensorFlow(Library):
    MODULE = "tensorflow"
    NOTES, BLOCKS_OUT, BLOCKS_IN = "takes and gives capsules without a stream: the host waits, in order", True, True

    def __init__(self):
        super().__init__()
        import tensorflow

        self.tf = tensorflow
        for gpu in tensorflow.config.list_physical_devices("GPU"):
            tensorflow.config.experimental.set_memory_growth(gpu, True)

    def make(self, value):
        with self.tf.device("GPU:0"):
            return self.tf.fill((LEN,), np.float32(value))

    def slow(self, array, value):
        with self.tf.device("GPU:0"):
            square = self.tf.fill((4096, 4096), np.float32(1e-3))
            for _ in range(30):
                square = self.tf.tanh(square @ square)
            return self.tf.fill((LEN,), np.float32(value)) + 0 * square[0, 0]

    def pointer(self, array):
        return None

    class Capsule:
        def __init__(self, tf, array):
            self.tf, self.array = tf, array

        def __dlpack__(self, **_):
            return self.tf.experimental.dlpack.to_dlpack(self.array)

        def __dlpack_device__(self):
            return (2, 0)

    def give(self, array):
        return self.Capsule(self.tf, array)

    give_unordered = None

    def take(self, tensor):
        tensor.stream.synchronize()
        return self.tf.experimental.dlpack.from_dlpack(tensor.__dlpack__())

    def take_unordered(self, tensor):
        return self.tf.experimental.dlpack.from_dlpack(tensor.__dlpack__(stream=-1))

    def read(self, array):
        return lambda: array.numpy()


class PyCuda(Library):
    MODULE = "pycuda"
    on = None
    NOTES = "a GPUArray at our address, on our stream; in: without a stream, ordered after all work of the device"

    def __init__(self):
        super().__init__()
        import pycuda.autoprimaryctx  # noqa: F401
        from pycuda import gpuarray

        self.gpuarray = gpuarray

    def make(self, value):
        array = self.gpuarray.to_gpu(np.full(LEN, value, np.float32))
        device_calls.synchronize_all()
        return array

    def pointer(self, array):
        return int(array.ptr)

    def give_unordered(self, array):
        only = CuPyInterface.Only({**array.__cuda_array_interface__, "version": 3, "stream": device_calls.Stream().handle})
        only.keep = array
        return only

    def take(self, tensor):
        interface = tensor.__cuda_array_interface__
        self.on = interface["stream"]
        return self.gpuarray.GPUArray(interface["shape"], np.float32, base=tensor, gpudata=interface["data"][0])

    def take_unordered(self, tensor):
        self.on = self.stream.handle
        return self.gpuarray.GPUArray((LEN,), np.float32, base=tensor, gpudata=pointer_of(tensor))

    def read(self, array):
        return device_calls.read(self.on or self.stream.handle, self.pointer(array), LEN)
