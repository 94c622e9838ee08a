"""Libraries that are large or that must be compiled."""

import ctypes
import os

import device_calls
import numpy as np
from libraries import LEN, CuPy, Library, external

import streamflow as sf


class CvCuda(Library):
    MODULE = "cvcuda"
    NOTES = "as_tensor of a slow image, and its CUDA array interface back"

    def __init__(self):
        super().__init__()
        import cvcuda

        self.cvcuda, self.theirs = cvcuda, cvcuda.as_stream(self.stream.handle)

    def make(self, value):
        return CuPy.make(self.cupy(), value)

    def cupy(self):
        if not hasattr(self, "_cupy"):
            self._cupy = CuPy()
        return self._cupy

    def pointer(self, array):
        return array.data.ptr if hasattr(array, "data") else array.cuda().__cuda_array_interface__["data"][0]

    def take(self, tensor):
        with self.theirs:
            image = self.cvcuda.as_tensor(tensor, "W")
            return self.cvcuda.convertto(image, np.float32, 1.0, stream=self.theirs)

    SHARES_OUT = False


class Dali(Library):
    MODULE = "nvidia.dali"
    NOTES = "external_source from our tensor on a stream, and its output back by DLPack"

    def __init__(self):
        super().__init__()
        from nvidia.dali import fn, pipeline_def

        @pipeline_def(batch_size=1, num_threads=1, device_id=0, exec_dynamic=True)
        def pipe():
            data = fn.external_source(name="data", device="gpu", batch=True, no_copy=True)
            return data + 0.0

        self.pipe = pipe()
        self.pipe.build()

    def make(self, value):
        raise NotImplementedError

    def pointer(self, array):
        return array.data_ptr()

    def take(self, tensor):
        self.pipe.feed_input("data", [tensor], cuda_stream=self.stream.handle)
        (out,) = self.pipe.run(cuda_stream=self.stream.handle)
        return out[0]

    IN, SHARES_OUT = False, False


class CuCim(CuPy):
    MODULE = "cucim"
    NOTES, SHARES_OUT = "a filter on our stream, compared with the host", False

    def __init__(self):
        super().__init__()
        import cucim.skimage.filters as filters

        self.filters = filters

    def take(self, tensor):
        with external(self.cupy, self.stream):
            # A constant stays as it is.
            return self.filters.gaussian(self.cupy.from_dlpack(tensor).reshape(256, -1), sigma=1).reshape(-1)


class CuDf(CuPy):
    MODULE = "cudf"
    NOTES, SHARES_OUT, BLOCKS_OUT = "a column of our tensor, and its values back", False, True

    def __init__(self):
        super().__init__()
        import cudf

        self.cudf = cudf

    def take(self, tensor):
        with self.theirs:
            return self.cudf.Series(self.cupy.from_dlpack(tensor)).values


class MatX(Library):
    """`matx_probe.cu`, compiled by `run.py --matx` into `matx_probe.so`: doubles a tensor on a stream."""

    MODULE = "matx"
    NOTES, SHARES_OUT, IN = "(b = a * 2).run(stream), by DLManagedTensorVersioned", False, False

    LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "matx_probe.so")

    def __init__(self):
        super().__init__()
        self.library = ctypes.CDLL(self.LIBRARY)
        # Complete before the first kernel, and used by one call at a time.
        self.result = sf.zeros(LEN)
        self.address = self.result.__cuda_array_interface__["data"][0]
        device_calls.synchronize_all()
        self.get = ctypes.pythonapi.PyCapsule_GetPointer
        self.get.restype, self.get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    def pointer(self, _array):
        return self.address

    def run(self, tensor, stream):
        out = self.result
        pointers = []
        for it, flag in ((tensor, stream), (out, self.stream.handle)):
            capsule = it.__dlpack__(max_version=(1, 0), stream=flag)
            pointers.append((capsule, self.get(capsule, b"dltensor_versioned")))
        handle = ctypes.c_void_p(self.stream.handle)
        code = self.library.matx_halve_of_double(*(ctypes.c_void_p(pointer) for _, pointer in pointers), handle)
        assert code == 0, code
        self.keep = pointers
        return out

    def take(self, tensor):
        return self.run(tensor, self.stream.handle)

    def take_unordered(self, tensor):
        return self.run(tensor.tensor if hasattr(tensor, "tensor") else tensor, -1)
