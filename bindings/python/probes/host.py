"""Libraries on the host. They need no GPU: the tensors are those of the simulator, whose memory is host memory. On a GPU,
NumPy gets a copy."""

import gc
import sys
import time

import numpy as np

import streamflow as sf

LEN = 1 << 16


def on_host():
    return sf.Stream(sf.Platform("host"))


def address(array):
    return array.__array_interface__["data"][0]


def is_back_on(stream, before):
    """Whether all memory returns within 5 s."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        gc.collect()
        sf.empty(1, stream=stream)
        live = sf.live()
        if all(live[name] <= before[name] for name in before):
            return True
    return False


class NumPy:
    MODULE = "numpy"

    def probe(self):
        result = {"note": "on the simulator; of a GPU a copy, for which the host waits"}
        stream, before = on_host(), sf.live()
        tensor = sf.zeros(LEN, stream=stream)
        array = np.from_dlpack(tensor)
        result["same out"] = address(array) == address(np.asarray(tensor))
        array[:] = 7
        del tensor
        others = [sf.zeros(LEN, stream=stream) for _ in range(8)]
        wrong_out = int((array != 7).sum())
        result["lives out"] = wrong_out == 0
        theirs = np.full(LEN, 5, np.float32)
        back = sf.from_dlpack(theirs, stream=stream)
        result["same in"] = address(back.numpy()) == address(theirs)
        del theirs
        poison = [np.full(LEN, 13, np.float32) for _ in range(8)]
        result["lives in"] = bool((back.numpy() == 5).all())
        del array, others, back, poison
        result["lives out"] = result["lives out"] and is_back_on(stream, before)
        if not result["lives out"]:
            print(f"lives out: {wrong_out} values are wrong; {before} before, and now {sf.live()}", file=sys.stderr)
        wrong = [name for name, value in result.items() if value is False]
        if sf.default_platform().name == "cuda":
            wrong += self.on_gpu(result)
        result["verdict"] = "FAILED: " + ", ".join(wrong) if wrong else "ok"
        return result

    def on_gpu(self, result):
        """After a slow kernel: the copies are ordered, and block."""
        import device_calls

        stream, right = sf.Stream(), 0
        for value in range(1, 21):
            tensor = sf.zeros(LEN, stream=stream)
            device_calls.spin(stream.handle, tensor.__cuda_array_interface__["data"][0], LEN, value)
            right += bool((tensor.numpy() == value).all())
        result["out"] = right
        return [] if right == 20 else ["out"]


class PyArrow:
    MODULE = "pyarrow"

    def __init__(self):
        import pyarrow

        self.pyarrow = pyarrow

    def probe(self):
        result = {"note": "in, read only: its arrays are immutable, and its capsules can't say so"}
        stream, before = on_host(), sf.live()
        theirs = self.pyarrow.array(np.full(LEN, 5, np.float32))
        tensor = sf.from_dlpack(theirs, stream=stream)
        result["same in"] = address(tensor.numpy()) == theirs.buffers()[1].address
        result["read only"] = tensor.read_only
        del theirs
        result["lives in"] = bool((tensor.numpy() == 5).all())
        del tensor
        result["lives in"] = result["lives in"] and is_back_on(stream, before)
        wrong = [name for name, value in result.items() if value is False]
        result["verdict"] = "FAILED: " + ", ".join(wrong) if wrong else "ok"
        return result


class Mpi4Py:
    MODULE = "mpi4py"

    def __init__(self):
        from mpi4py import MPI

        self.mpi = MPI

    def probe(self):
        result = {"note": "a message from and to host memory; it takes stream=-1, so on a GPU the program synchronizes first"}
        stream = on_host()
        sent, got = sf.from_dlpack(np.full(LEN, 5, np.float32), stream=stream), sf.zeros(LEN, stream=stream)
        stream.synchronize()
        self.mpi.COMM_SELF.Sendrecv(np.asarray(sent), 0, recvbuf=np.asarray(got), source=0)
        result["same out"] = bool((got.numpy() == 5).all())
        del sent
        result["verdict"] = "ok" if result["same out"] else "FAILED: the message"
        return result
