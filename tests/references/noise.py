"""The test data of `streamflow_tests::random`: SplitMix64."""

import numpy as np

MASK = 2**64 - 1


def _bits(seed, count):
    state = (seed + np.arange(1, count + 1, dtype=object) * 0x9E3779B97F4A7C15) & MASK
    value = np.array(state, dtype=np.uint64)
    with np.errstate(over="ignore"):
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def noise_bytes(seed, count):
    """`Random::new(seed).bytes(count)`."""
    return (_bits(seed, count) >> np.uint64(56)).astype(np.uint8)


def noise_floats(seed, count):
    """`Random::new(seed).floats(count)`, in -1 to 1."""
    return ((_bits(seed, count) >> np.uint64(40)).astype(np.float64) / 2**23 - 1).astype(np.float32)
