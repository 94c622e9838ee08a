"""Tensors and streams of streamflow, for Python.

Without a GPU everything runs on a simulator, whose memory is host memory::

    import numpy as np
    import streamflow as sf

    t = sf.zeros((2, 3))
    a = np.from_dlpack(t)      # the same memory
    a[0, 0] = 7
    b = sf.from_dlpack(a)      # the same memory again
"""

import atexit as _atexit

from ._streamflow import (
    Error,
    Event,
    Platform,
    Stream,
    Tensor,
    _stop,
    as_tensor,
    default_platform,
    empty,
    from_dlpack,
    live,
    work_stream,
    zeros,
)

__all__ = [
    "Error",
    "Event",
    "Platform",
    "Stream",
    "Tensor",
    "as_tensor",
    "default_platform",
    "empty",
    "from_dlpack",
    "live",
    "work_stream",
    "zeros",
]

# While the interpreter ends, objects of other libraries can't be given back any more.
_atexit.register(_stop)
