"""The host's time for a hand-over from Python, beyond the library's own: microseconds per call.

    pip install .        # a release build
    python benches/hand_over.py [--cuda]

NumPy's arrays are the counterpart: what NumPy takes from streamflow is compared with what it takes from itself, and what
streamflow takes from NumPy with that, too. All take turns; the results are medians, with the least and the most. With
`--cuda` the tensors are those of a GPU, and the consumer is CuPy."""

import argparse
import gc
import statistics
import time

import numpy as np

import streamflow as sf

ROUNDS, COUNT = 31, 1000


def per_call(call, stream):
    """Microseconds per call. The results are dropped afterwards, and not measured."""
    kept = [None] * COUNT
    gc.disable()
    begun = time.perf_counter()
    for at in range(COUNT):
        kept[at] = call()
    seconds = time.perf_counter() - begun
    gc.enable()
    dropped = time.perf_counter()
    del kept
    dropped = time.perf_counter() - dropped
    # On a GPU a thread takes the memory back by calls of the driver. Without this loop they would be measured with the
    # next row.
    while sf.live()["lent"] or sf.live()["adopted"]:
        sf.empty(1, stream=stream)
        time.sleep(0.001)
    return 1e6 * seconds / COUNT, 1e6 * dropped / COUNT


def rows(cuda, stream):
    tensor = sf.zeros(16, stream=stream)
    if cuda:
        import cupy

        array, library = cupy.zeros(16, cupy.float32), cupy
        # The stream that the handle names must live until all rows are measured.
        theirs = cupy.cuda.Stream(non_blocking=True)
        order = {"stream": theirs.ptr}
    else:
        array, library, order, theirs = np.zeros(16, np.float32), np, {}, None
    version = {"max_version": (1, 0)}
    asks_array = version if library is np else {**version, **order}
    return {
        "nothing": (lambda: theirs and None, None),
        "library to itself: from_dlpack(array)": (lambda: library.from_dlpack(array), None),
        "out: from_dlpack(tensor)": (lambda: library.from_dlpack(tensor), "library to itself: from_dlpack(array)"),
        "in: streamflow.from_dlpack(array)": (
            lambda: sf.from_dlpack(array, stream=stream), "library to itself: from_dlpack(array)",
        ),
        "array.__dlpack__()": (lambda: array.__dlpack__(**asks_array), None),
        "tensor.__dlpack__()": (lambda: tensor.__dlpack__(**version, **order), "array.__dlpack__()"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", action="store_true")
    cuda = parser.parse_args().cuda
    stream = sf.Stream(None if cuda else sf.Platform("host"))
    calls = rows(cuda, stream)
    times = {name: [] for name in calls}
    drops = {name: [] for name in calls}
    for turn in range(ROUNDS + 1):
        for name, (call, _) in calls.items():
            taken, dropped = per_call(call, stream)
            if turn:
                times[name].append(taken)
                drops[name].append(dropped)
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{'':40} {'median':>8} {'least':>8} {'most':>8} {'drop':>8} {'beyond':>8}   in µs")
    for name, (_, counterpart) in calls.items():
        values, beyond = times[name], ""
        if counterpart:
            beyond = f"{medians[name] - medians[counterpart]:8.2f}"
        drop = statistics.median(drops[name])
        print(f"{name:40} {medians[name]:8.2f} {min(values):8.2f} {max(values):8.2f} {drop:8.2f} {beyond:>8}")


if __name__ == "__main__":
    main()
