"""Which array library the programs use: CuPy on a GPU, and NumPy on the simulator, whose memory is host memory."""

import contextlib


def library_of(platform):
    """The array library for a platform."""
    if platform.name == "cuda":
        import cupy

        return cupy
    import numpy

    return numpy


def on(xp, stream):
    """A block in which the library works on a stream. Holoscan's programs write `cupy.cuda.ExternalStream(handle)`."""
    if xp.__name__ == "numpy":
        return contextlib.nullcontext()
    return xp.cuda.Stream.from_external(stream)
