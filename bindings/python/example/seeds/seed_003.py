"""Seed 003: streams and events in CuPy, on a stream of streamflow."""

import numpy as np

import seed_graphs as sg
from library import library_of, on


def main(platform):
    """The tutorial's program. Returns the sum."""
    xp = library_of(platform)
    a_np = np.arange(10)
    # s = cp.cuda.Stream()
    s = sg.Stream(platform)
    before = s.record()
    with on(xp, s):
        a_xp = xp.asarray(a_np)  # H2D transfer on stream s
        b_xp = xp.sum(a_xp)  # kernel launched on stream s
    after = s.record()
    # The tutorial's `s.use()` makes it CuPy's current stream until another is; a block does so here.
    with on(xp, s):
        b_np = b_xp if xp is np else xp.asnumpy(b_xp)
        if xp is not np:
            assert xp.cuda.get_current_stream().ptr == s.ptr
    other = sg.Stream(platform)
    other.wait(after)
    other.wait(before)
    other.synchronize()
    return int(b_np)
