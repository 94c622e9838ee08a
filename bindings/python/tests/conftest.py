"""What the tests share. Most of them run on the simulator, also where there is a GPU, and need NumPy alone."""

import gc
import os
import time

import numpy as np
import pytest
import simulator

import streamflow as sf


@pytest.fixture
def stream():
    """A stream of a platform of its own."""
    stream = sf.Stream(sf.Platform("host"))
    yield stream
    gc.collect()
    # A call of streamflow takes back the memory that NumPy has returned.
    sf.empty(1, stream=stream)


@pytest.fixture(autouse=True)
def nothing_is_left():
    """After each test all memory is back on its side."""
    yield
    gc.collect()
    assert is_back("adopted", 0) and is_back("lent", 0), sf.live()
    assert sf.live()["leaked"] == 0


def needs_gpu():
    """Skips a test without a GPU. The `libcuda` of the tests executes no kernel."""
    platform, fake = sf.default_platform(), os.environ.get("STREAMFLOW_FAKE_CUDA")
    if platform.name != "cuda" or fake and os.environ.get("LD_LIBRARY_PATH") == fake:
        pytest.skip(f"needs a GPU: {platform.why}")


def address(array):
    return array.__array_interface__["data"][0]


def is_back(name, count, stream=None):
    """Whether the count of `live` falls to a number, within 10 s. Memory that returns is taken back by calls, on the platform
    of the tests, the default one, and that of a stream."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        # Each allocation takes back what other code has returned to the platform of the allocation.
        simulator.empty(1)
        sf.empty(1)
        sf.empty(1, stream=stream)
        if sf.live()[name] <= count:
            return True
        time.sleep(0.001)
    return False


DTYPES = [np.dtype(name) for name in (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "bool", "complex64", "complex128",
)]
