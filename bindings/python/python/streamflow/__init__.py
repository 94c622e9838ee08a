"""Tensors, streams and graphs of streamflow, for Python.

Without a GPU everything runs on a simulator, whose memory is host memory::

    import numpy as np
    import streamflow as sf

    t = sf.zeros((2, 3))
    a = np.from_dlpack(t)      # the same memory
    a[0, 0] = 7
    b = sf.from_dlpack(a)      # the same memory again
"""

from ._streamflow import (
    Ended,
    Error,
    Event,
    Graph,
    Input,
    Message,
    Output,
    Platform,
    Report,
    Running,
    Stream,
    Tensor,
    as_tensor,
    default_platform,
    empty,
    from_dlpack,
    live,
    work_stream,
    zeros,
)

__all__ = [
    "Ended",
    "Error",
    "Event",
    "Graph",
    "Input",
    "Message",
    "Output",
    "Platform",
    "Report",
    "Running",
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
