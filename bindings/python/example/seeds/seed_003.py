"""Seed 003: streams and events in CuPy, on a stream of streamflow."""

import numpy as np

import seed_graphs as sg
from library import library_of, on


def main(platform):
    """The tutorial's program. Returns the sum, and how long it took on the device."""
    xp = library_of(platform)
    a_np = np.arange(10)
    # In the tutorial: s = cp.cuda.Stream()
    s = sg.Stream(platform)
    before = s.record(timing=True)
    with on(xp, s):
        a_xp = xp.asarray(a_np)  # H2D transfer on stream s
        b_xp = xp.sum(a_xp)  # kernel launched on stream s
    after = s.record(timing=True)
    # The tutorial's `s.use()` makes `s` CuPy's current stream until another is used; here the block does so until its
    # end.
    with on(xp, s):
        b_np = b_xp if xp is np else xp.asnumpy(b_xp)
        if xp is not np:
            assert xp.cuda.get_current_stream().ptr == s.ptr
    # The tutorial: "CUDA events are used to measure the time between different points in your CUDA code". In
    # milliseconds.
    return int(b_np), before.elapsed_time(after)
