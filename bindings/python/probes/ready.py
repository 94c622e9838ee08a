"""Libraries that are large or that must be compiled."""

import ctypes
import os

import device_calls
from libraries import LEN, CuPy, CuPyInterface, Elsewhere, Library, Unordered, external

import streamflow as sf


class CvCuda(Library):
    """An operator of CV-CUDA waits for the stream of its input's interface; it notes the stream that it writes on."""

    MODULE = "cvcuda"
    NOTES, SHARES_OUT = "an operator on our tensor as an image, and its result back by DLPack", False
    SHAPE = (256, LEN // 256, 1)

    def __init__(self):
        super().__init__()
        import cvcuda

        self.cvcuda, self.theirs = cvcuda, cvcuda.as_stream(self.stream.handle)

    def make(self, value):
        image = self.cvcuda.Tensor(self.SHAPE, self.cvcuda.Type.F32, "HWC")
        device_calls.spin(self.stream.handle, self.pointer(image), LEN, value, milliseconds=0)
        self.stream.synchronize()
        return image

    def slow(self, array, value):
        # CV-CUDA does not see the kernel, so an operator of CV-CUDA follows on the same stream.
        return self.copy(super().slow(array, value))

    def copy(self, image):
        return self.cvcuda.convertto(image, self.cvcuda.Type.F32, stream=self.theirs)

    def let_go(self):
        # CV-CUDA caches the wrappers of other code's memory, and releases them only in a later call.
        self.cvcuda.clear_cache()
        self.cvcuda.internal.drain_pending_releases()

    def interface(self, array):
        return array.cuda().__cuda_array_interface__

    def pointer(self, array):
        return self.interface(array)["data"][0]

    def give(self, array):
        return array.cuda()

    def give_unordered(self, array):
        return Elsewhere(array.cuda())

    def take(self, tensor):
        return self.copy(self.cvcuda.as_tensor(only(tensor, shape=self.SHAPE), "HWC"))

    def take_unordered(self, tensor):
        # Without a stream in the interface, CV-CUDA may wait for the device. For CV-CUDA, -1 means a complete input.
        return self.copy(self.cvcuda.as_tensor(only(Unordered(tensor), shape=self.SHAPE, stream=-1), "HWC"))


class CvCudaInterface(CvCuda):
    NOTES = "an operator on our tensor as an image, and its result back by the CUDA array interface"

    def give(self, array):
        return only(array.cuda())

    def give_unordered(self, array):
        return only(array.cuda(), stream=device_calls.Stream().handle)


def only(array, **entries):
    """An array with nothing but its CUDA array interface, with other entries."""
    made = CuPyInterface.Only({**array.__cuda_array_interface__, **entries})
    made.keep = array
    return made


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

    def fed(self, tensor, stream):
        """What comes of a tensor whose content DALI takes for complete on a stream."""
        self.pipe.feed_input("data", [tensor], cuda_stream=stream)
        (out,) = self.pipe.run(self.stream.handle)
        return out[0]

    def take(self, tensor):
        return self.fed(tensor, tensor.stream.handle)

    def take_unordered(self, tensor):
        return self.fed(tensor, self.stream.handle)

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
            # The filter does not change a constant array, except for the rounding of the weights.
            return self.filters.gaussian(self.cupy.from_dlpack(tensor).reshape(256, -1), sigma=1).round().reshape(-1)


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
    """`matx_probe.cu`, compiled by `run.py --matx` into `matx_probe.so`: doubles and halves a tensor on a stream."""

    MODULE = "matx"
    NOTES, SHARES_OUT, IN = "(b = a * 2 * 0.5).run(stream), by MatX's import of DLManagedTensorVersioned", False, False

    LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "matx_probe.so")
    USED = b"used_dltensor_versioned"

    def __init__(self):
        super().__init__()
        self.library = ctypes.CDLL(self.LIBRARY)
        # The tensor is complete before the first kernel, and only one call at a time uses it.
        self.result = sf.zeros(LEN)
        self.address = self.result.__cuda_array_interface__["data"][0]
        device_calls.synchronize_all()
        self.get, self.rename = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_SetName
        self.get.restype, self.get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        self.rename.argtypes = [ctypes.py_object, ctypes.c_char_p]

    def pointer(self, _array):
        return self.address

    def given(self, tensor, stream):
        """The managed tensor, which belongs to MatX from now on."""
        capsule = tensor.__dlpack__(max_version=(1, 0), stream=stream)
        pointer = self.get(capsule, b"dltensor_versioned")
        self.rename(capsule, self.USED)
        return ctypes.c_void_p(pointer)

    def run(self, tensor, stream):
        source, target = self.given(tensor, stream), self.given(self.result, self.stream.handle)
        code = self.library.matx_halve_of_double(source, target, ctypes.c_void_p(self.stream.handle))
        assert code == 0, code
        return self.result

    def take(self, tensor):
        return self.run(tensor, self.stream.handle)

    def take_unordered(self, tensor):
        return self.run(tensor, -1)
