"""The slow-kernel probe of one library: ``python probe.py cupy``.

A kernel waits for 100 ms on a non-blocking stream, and writes a value. The other side reads on another non-blocking
stream. The last line is the result as JSON."""

import gc
import importlib.util
import json
import os
import sys
import time

import device_calls
import host
import libraries
import numpy as np
import ready
from libraries import LEN, POINTERS

import streamflow as sf

ROUNDS = 20
PROBES = {
    "numpy": host.NumPy,
    "cupy": libraries.CuPy,
    "cupy-interface": libraries.CuPyInterface,
    "torch": libraries.PyTorch,
    "torch-interface": libraries.PyTorchInterface,
    "jax": libraries.Jax,
    "numba": libraries.Numba,
    "cuda.core": libraries.CudaCore,
    "rmm": libraries.Rmm,
    "nvmath": libraries.NvMath,
    "tensorflow": libraries.TensorFlow,
    "pyarrow": host.PyArrow,
    "pycuda": libraries.PyCuda,
    "mpi4py": host.Mpi4Py,
    "cvcuda": ready.CvCuda,
    "cvcuda-interface": ready.CvCudaInterface,
    "dali": ready.Dali,
    "cucim": ready.CuCim,
    "cudf": ready.CuDf,
    "matx": ready.MatX,
}


def ours(stream):
    """A complete tensor whose address is known."""
    tensor = sf.zeros(LEN, stream=stream)
    POINTERS[id(tensor)] = tensor.__cuda_array_interface__["data"][0]
    device_calls.synchronize_all()
    return tensor


def values(array):
    """The floats of an array that may be of bytes."""
    return np.asarray(array).reshape(-1).view(np.float32)


def rounds(one, count):
    """How many rounds were right, and the median time of a hand-over in milliseconds."""
    right, times = 0, []
    one(0)
    for value in range(1, count + 1):
        was_right, seconds = one(value)
        right += was_right
        times.append(1e3 * seconds)
    return right, sorted(times)[len(times) // 2]


def out(library, take):
    stream = sf.Stream()

    def one(value):
        tensor = ours(stream)
        device_calls.spin(stream.handle, POINTERS[id(tensor)], LEN, value)
        begun = time.perf_counter()
        array = take(tensor)
        seconds = time.perf_counter() - begun
        found = library.read(array)()
        device_calls.synchronize_all()
        return bool((values(found) == value).all()), seconds

    return one


def into(library, give):
    stream = sf.Stream()

    def one(value):
        array = library.make(0)
        device_calls.synchronize_all()
        array = library.slow(array, value)
        given = give(array)
        begun = time.perf_counter()
        tensor = sf.as_tensor(given, stream=stream)
        seconds = time.perf_counter() - begun
        found = tensor.numpy()
        device_calls.synchronize_all()
        return bool((values(found) == value).all()), seconds

    return one


def is_back(name, count, library):
    """Whether memory returns within 5 s."""
    end = time.monotonic() + 5
    while sf.live()[name] > count and time.monotonic() < end:
        gc.collect()
        library.let_go()
        sf.empty(1)
    return sf.live()[name] <= count


def lives_out(library):
    """The library reads late what it got; meanwhile all handles are dropped, and such memory is poisoned."""
    stream, scratch, before = sf.Stream(), ours(sf.Stream()), sf.live()["lent"]
    tensor = ours(stream)
    device_calls.spin(stream.handle, POINTERS[id(tensor)], LEN, 7, milliseconds=1)
    device_calls.synchronize_all()
    array = library.take(tensor)
    device_calls.spin(library.stream.handle, POINTERS[id(scratch)], LEN, 0)
    result = library.read(array)
    del array, tensor
    gc.collect()
    others = [sf.empty(LEN, stream=stream) for _ in range(8)]
    for other in others:
        device_calls.fill(stream.handle, other.__cuda_array_interface__["data"][0], LEN, 0xEE)
    found = values(result())
    device_calls.synchronize_all()
    # The readers of some libraries keep the array alive, so they are dropped.
    del others, result
    right, back = bool((found == 7).all()), is_back("lent", before + 1, library)
    if not (right and back):
        print(f"lives out: {(found != 7).sum()} of {LEN} values are wrong; lent {before} before, and now {sf.live()}", file=sys.stderr)
    return right and back


class Capsule:
    def __init__(self, capsule, device):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


def lives_in(library):
    """streamflow reads late what it got; meanwhile the library's object is deleted, and such memory is poisoned."""
    stream, scratch, before = sf.Stream(), ours(sf.Stream()), sf.live()["adopted"]
    array = library.make(7)
    device_calls.synchronize_all()
    tensor = sf.as_tensor(library.give(array), stream=stream)
    device_calls.spin(stream.handle, POINTERS[id(scratch)], LEN, 0)
    copy = Capsule(tensor.__dlpack__(copy=True, stream=-1, max_version=(1, 0)), tensor.__dlpack_device__())
    del tensor, array
    gc.collect()
    others = [library.make(13) for _ in range(8)]
    device_calls.synchronize_all()
    found = values(sf.from_dlpack(copy, stream=stream).numpy())
    del others, copy
    return bool((found == 7).all()) and is_back("adopted", before, library)


def shares(library):
    """Whether pointers are equal, out and in. None where there is a copy by design."""
    tensor = ours(sf.Stream())
    shared = library.pointer(library.take(tensor)) == POINTERS[id(tensor)] if library.SHARES_OUT else None
    if not library.IN:
        return shared, None
    array = library.make(1)
    device_calls.synchronize_all()
    back = sf.as_tensor(library.give(array))
    pointer = library.pointer(array)
    return shared, None if pointer is None else back.__cuda_array_interface__["data"][0] == pointer


def probe(library):
    """All results of a library on a GPU."""
    result = {"note": library.NOTES}
    result["out"], result["out ms"] = rounds(out(library, library.take), ROUNDS)
    result["out control"], _ = rounds(out(library, library.take_unordered), ROUNDS)
    if library.IN:
        result["in"], result["in ms"] = rounds(into(library, library.give), ROUNDS)
        if library.give_unordered:
            result["in control"], _ = rounds(into(library, library.give_unordered), ROUNDS)
    result["same out"], result["same in"] = shares(library)
    result["lives out"] = lives_out(library)
    if library.IN:
        result["lives in"] = lives_in(library)
    result["verdict"] = verdict(library, result)
    return result


def verdict(library, result):
    wrong = [way for way in ("out", "in") if result.get(way, ROUNDS) < ROUNDS]
    wrong += [name for name in ("same out", "same in", "lives out", "lives in") if result.get(name) is False]
    slow = {"out": library.BLOCKS_OUT, "in": library.BLOCKS_IN}
    wrong += [f"{way} blocks" for way, by_design in slow.items() if not by_design and result.get(f"{way} ms", 0) >= 2]
    if wrong:
        return "FAILED: " + ", ".join(wrong)
    weak = [way for way in ("out", "in") if result.get(f"{way} control", 0) == ROUNDS]
    return "inconclusive: the control was right, " + ", ".join(weak) if weak else "ok"


def missing(kind):
    """Why a probe can't run here, if it can't."""
    if issubclass(kind, ready.MatX):
        is_there = os.path.exists(kind.LIBRARY)
    else:
        try:
            is_there = importlib.util.find_spec(kind.MODULE) is not None
        except ImportError:
            is_there = False
    if not is_there:
        return "not installed: not run"
    if issubclass(kind, libraries.Library) and sf.default_platform().name != "cuda":
        return "needs a GPU: not run"
    return None


def main():
    name = sys.argv[1]
    kind = PROBES[name]
    why = missing(kind)
    if why:
        result = {"verdict": why}
    else:
        library = kind()
        result = probe(library) if isinstance(library, libraries.Library) else library.probe()
        module = sys.modules.get(kind.MODULE) or sys.modules.get(kind.MODULE.split(".")[0])
        result["version"] = str(getattr(module, "__version__", ""))
    print(json.dumps({"name": name, **result}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
