"""The maps of the program `radar`, computed with NumPy in double precision.

Nothing here comes from the Rust code but the constants. A test compares the program with `radar.json`:

    python3 examples/numpy/radar.py > examples/numpy/radar.json
    python3 examples/numpy/radar.py --check     # compares the file with this NumPy's results
"""

import json
import sys
from pathlib import Path

import numpy as np

CHANNELS, PULSES, SAMPLES = 16, 32, 256
CODE = np.array([1, 1, 1, 1, 1, -1, -1, 1, 1, -1, 1, -1, 1.0])
MAPS, GUARD, TRAINING, THRESHOLD = 16, 4, 8, 3.0

# Each target has a range, a Doppler cell, a bearing and an amplitude.
TARGETS = [
    (40, 3, 0, 0.30),
    (64, 3, 2, 0.12),
    (120, 20, 5, 0.10),
    (120, 27, -3, 0.20),
    (200, 11, 7, 0.08),
]

# With this threshold, a single map also has cells of noise above it.
LOW = 2.0


def scene():
    """The echoes of all targets: channels, pulses, samples."""
    samples = np.zeros((CHANNELS, PULSES, SAMPLES), complex)
    channel, pulse = np.mgrid[:CHANNELS, :PULSES]
    for at, doppler, bearing, amplitude in TARGETS:
        turns = doppler * pulse / PULSES + bearing * channel / CHANNELS
        echo = amplitude * np.exp(2j * np.pi * turns)
        samples[:, :, at : at + len(CODE)] += echo[:, :, None] * CODE
    return samples


def noise(tick):
    """The noise of a tick: uniform in -1 to 1, by a hash of 32 bits."""
    h = np.arange(2 * CHANNELS * PULSES * SAMPLES, dtype=np.uint32) * np.uint32(2654435769)
    h += np.uint32(tick * 40503 % 2**32)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(739982445)
    h ^= h >> np.uint32(12)
    parts = (h >> np.uint32(8)) / 2.0**23 - 1
    return parts.view(complex).reshape(CHANNELS, PULSES, SAMPLES)


def power(tick):
    """The map of a tick: Doppler cells, range cells."""
    padded = np.pad(scene() + noise(tick), [(0, 0), (0, 0), (0, len(CODE) - 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(CODE), axis=-1)
    ranges = windows @ CODE
    return (np.abs(np.fft.fft(ranges, axis=1)) ** 2).sum(axis=0)


def around(m):
    """The mean power of the cells near each cell."""
    row = np.arange(SAMPLES)
    distance = np.abs(row[:, None] - row)
    near = ((distance >= GUARD) & (distance < GUARD + TRAINING)).astype(float)
    return m @ near / near.sum(axis=0)


def reference(ticks):
    """What was found in each tick, as numbers of cells, and the sums of each running average."""
    result, mean = [], np.zeros((PULSES, SAMPLES))
    for tick in range(ticks):
        mean += (power(tick) - mean) / min(tick + 1, MAPS)
        ratio = mean / around(mean)
        found = {name: np.flatnonzero(ratio > t).tolist() for name, t in [("found", THRESHOLD), ("low", LOW)]}
        # Each cell is so far from both thresholds that single precision decides the same.
        assert all(np.abs(ratio / t - 1).min() > 3e-5 for t in (THRESHOLD, LOW)), tick
        sums = {"rows": mean.sum(axis=1), "columns": mean.sum(axis=0)}
        result.append(found | {name: [round(x, 3) for x in sums[name].tolist()] for name in sums})
    return result


def is_close(a, b):
    """Whether both have the same cells, and sums that are the same but for the order of additions."""
    same = all(a[name] == b[name] for name in ("found", "low"))
    return same and all(np.allclose(a[name], b[name], rtol=1e-8) for name in ("rows", "columns"))


if __name__ == "__main__":
    ticks = reference(3)
    if sys.argv[1:] == ["--check"]:
        committed = json.loads(Path(__file__).with_suffix(".json").read_text())
        if len(committed) != len(ticks) or not all(map(is_close, committed, ticks)):
            sys.exit("radar.json differs from what NumPy computes")
    else:
        print("[" + ",\n".join(json.dumps(tick) for tick in ticks) + "]")
