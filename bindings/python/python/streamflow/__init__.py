"""Tensors, streams and graphs of streamflow, for Python.

Without a GPU everything runs on a simulator, whose memory is host memory::

    import numpy as np
    import streamflow as sf

    t = sf.as_tensor(np.ones((2, 3)))    # NumPy's memory on the simulator, a copy on a GPU
    a = t.numpy()                        # the same memory on the simulator, a copy of a GPU's
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
