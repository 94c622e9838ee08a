"""Seed 002: external libraries in a pipeline. Each function is the `compute` of a customized operator there, from the
line in which it has its input to the line before `op_output.emit(dict(out_tensor=…), "out")`.

They run between `received.take()` and `emitted.push(…)`, see `run`. The library works on the stream of `received`.
"""

import seed_graphs as sg
from library import library_of, on


def cupy_op(xp, input_tensor, stream):
    """CuPy; NumPy on the simulator."""
    cp_array = xp.from_dlpack(input_tensor)
    return xp.clip(cp_array * 2 + 1, 0, 255)


def cucim_op(cp, input_tensor, stream):
    import cucim.skimage.exposure as cu_exposure
    from cucim.skimage.util import img_as_float, img_as_ubyte

    # The guide writes `cp.asarray`, which uses `__cuda_array_interface__`: there CuPy blocks the host.
    cp_array = cp.from_dlpack(input_tensor)
    cp_array = img_as_float(cp_array / 255)
    cp_res = cu_exposure.equalize_adapthist(cp_array)
    return img_as_ubyte(cp_res)


def cvcuda_op(cp, input_tensor, stream):
    import cvcuda

    cvcuda_input_tensor = cvcuda.as_tensor(input_tensor, "HWC")
    # Without `stream` the operation would run on CV-CUDA's current stream, which is ordered by rules of CV-CUDA.
    cvcuda_resize_tensor = cvcuda.resize(
        cvcuda_input_tensor, (640, 640, 3), cvcuda.Interp.LINEAR, stream=cvcuda.as_stream(stream.handle)
    )
    return cvcuda_resize_tensor.cuda()


def opencv_op(cp, input_tensor, stream):
    """OpenCV, built with CUDA: the wheels of PyPI are not."""
    import cv2

    cp_frame = cp.from_dlpack(input_tensor)
    cv_frame = gpumat_from_cp_array(cp_frame)
    # The guide's `cv2.cuda_Stream()` is not ordered after the tensor. `stream` is the stream that the tensor is on.
    cv_stream = cv2.cuda.wrapStream(stream.handle)
    cv_frame = cv2.cuda.cvtColor(cv_frame, cv2.COLOR_BGR2RGB, stream=cv_stream)
    return cp.ascontiguousarray(gpumat_to_cupy(cp, cv_frame))


def gpumat_from_cp_array(array):
    """The memory of a dense CuPy array of shape (rows, columns, channels) as a `GpuMat`."""
    import cv2

    depths = {"uint8": cv2.CV_8U, "uint16": cv2.CV_16U, "float32": cv2.CV_32F, "float64": cv2.CV_64F}
    rows, cols, channels = array.shape
    mat_type = depths[array.dtype.name] + ((channels - 1) << 3)
    # The guide passes no pitch in this call.
    return cv2.cuda.createGpuMatFromCudaMemory(rows, cols, mat_type, array.data.ptr, array.strides[0])


def gpumat_to_cupy(cp, mat):
    """The memory of a `GpuMat` as a CuPy array, which keeps the matrix."""
    import cv2

    dtypes = {cv2.CV_8U: "uint8", cv2.CV_16U: "uint16", cv2.CV_32F: "float32", cv2.CV_64F: "float64"}
    cols, rows = mat.size()
    # The guide has `mat.step * cols` as the size.
    memory = cp.cuda.UnownedMemory(mat.cudaPtr(), mat.step * rows, owner=mat)
    return cp.ndarray(
        (rows, cols, mat.channels()),
        dtypes[mat.depth()],
        cp.cuda.MemoryPointer(memory, 0),
        strides=(mat.step, mat.elemSize(), mat.elemSize1()),
    )


def matx_op(xp, boxes, label, app):
    """The guide's operator in C++ with MatX, as one in Rust: `seed_graphs.RemapBoxes`. Returns the boxes of a label."""
    # The guide's C++: auto boxes = in_message.get<Tensor>("inference_output_detection_boxes");
    with on(xp, app.labelled.stream):
        app.labelled.push(dict(boxes=xp.array(boxes), label=xp.array(label)))
    return app.boxes.take()


def torch_op(cp, input_tensor, stream):
    import torch

    with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
        # The guide writes `torch.as_tensor(input_tensor, device="cuda")`, which ignores the stream of the tensor.
        torch_tensor = torch.from_dlpack(input_tensor)
        torch_tensor *= 2
    return torch_tensor


def cuda_python_op(cp, input_tensor, stream):
    """The guide's `CudaArray`, over memory that the program keeps: here, CuPy's."""
    doubled = cp.from_dlpack(input_tensor) * 2
    return CudaArray(doubled, stream)


class CudaArray:
    """Class to represent a CUDA array interface object. On the simulator it is an array interface."""

    def __init__(self, array, stream):
        # The guide keeps the memory elsewhere. An import keeps this object alive, so the object keeps the memory
        # alive.
        self._kept = array
        interface = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "version": 3,
            "strides": None,
        }
        if hasattr(array, "__cuda_array_interface__"):
            data = (array.data.ptr, False)
            self.__cuda_array_interface__ = interface | {"data": data, "stream": stream.handle}
        else:
            data = (array.__array_interface__["data"][0], False)
            self.__array_interface__ = interface | {"data": data}


def run(platform, compute, images):
    """Sends images through an operator. Returns its results, as NumPy arrays."""
    xp = library_of(platform)
    app = sg.AroundPython(platform=platform)
    results = []
    with app.spawn() as running:
        for image in images:
            app.source.push(xp.array(image))
            input_tensor = app.received.take()
            stream = app.received.stream
            with on(xp, stream):
                out_tensor = compute(xp, input_tensor, stream)
                # The library's work is on `stream`. The stream of the graph's port waits for it.
                app.emitted.stream.wait(stream)
                app.emitted.push(dict(out_tensor=out_tensor))
            results.append(app.result.take()["out_tensor"].numpy())
        running.finish()
        running.join()
    return results
