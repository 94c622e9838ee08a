"""The programs of nvmath-python's page about streams, on numbers that another program can make too.

    python3 nvmath_streams.py run OUT [nvmath|cupy|numpy] [DIVISOR]   # writes OUT/NAME.npy for each program and result
    python3 nvmath_streams.py compare OUT OTHER             # exit status 1 if results differ or are missing

Each program is the page's, with its streams and events. Only the random numbers are replaced: element n of array `seed`
is a complex number of the draws 2n and 2n + 1 of SplitMix64 with that seed, each a multiple of 2^-53 below 1. Without
nvmath-python, `cupy` computes the same transforms by CuPy on the same streams, and `numpy` on the host.

`tests/tests/nvmath_results.rs` compares streamflow's results with these. A divisor makes all dimensions shorter.

A file has a transform's elements 0, s, 2s, ... in the order of memory, where s is the smallest odd number that leaves at
most 8192 of them. Transforms are not normalised, in both directions.
"""

import sys
from pathlib import Path

import numpy as np

# The largest permitted difference, divided by the median of the numbers; the first number is much larger than the
# median. The limit is 16 ulp times the steps of a transform of 2^25 elements.
TOLERANCES = {"complex128": 16 * 25 * 2.0**-53, "complex64": 16 * 25 * 2.0**-24}
SHAPE, LARGE, SMALL, OWNED = (64, 256, 128), (512, 256, 256), (10, 20), (64, 128)


def numbers(seed, shape):
    """The elements of array `seed`."""
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + np.arange(1, 2 * np.prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = (x ^ (x >> np.uint64(31))) >> np.uint64(11)
    return (x / 2.0**53).view(complex).reshape(shape)


def with_nvmath(save):
    import cupy as cp
    import nvmath
    import torch
    from cuda.core import Device

    device = Device(0)
    device.set_current()

    def host_stateless():
        a = numbers(1, SHAPE)
        s1, s2 = device.create_stream(), device.create_stream()
        save("host_stateless_1", nvmath.fft.fft(a, axes=[0, 1], execution="cuda", stream=s1))
        a *= 2
        save("host_stateless_2", nvmath.fft.fft(a, axes=[0, 1], execution="cuda", stream=s2))

    def device_stateless():
        s1, s2 = cp.cuda.Stream(), cp.cuda.Stream()
        with s1:
            a = cp.asarray(numbers(1, SHAPE))
        b = nvmath.fft.fft(a, axes=[0, 1], execution="cuda", stream=s1)
        s2.wait_event(s1.record())
        c = nvmath.fft.ifft(b, axes=[0, 1], execution="cuda", stream=s2)
        s2.synchronize()
        save("device_stateless", cp.asnumpy(c))

    def deallocation():
        s1, s2 = cp.cuda.Stream(), cp.cuda.Stream()
        with s1:
            a = cp.asarray(numbers(2, SMALL))
        s2.wait_event(s1.record())
        with s2:
            a *= 2.0
        r = nvmath.fft.fft(a, axes=[-2, -1], stream=s2)
        s1.wait_event(s2.record())
        a = None
        s2.synchronize()
        save("deallocation", cp.asnumpy(r))

    def host_stateful():
        a, b = numbers(1, SHAPE), numbers(3, SHAPE)
        s1 = device.create_stream()
        with nvmath.fft.FFT(a, axes=[0, 1], execution="cuda") as f:
            f.plan()
            save("host_stateful_1", f.execute())
            f.reset_operand(b, stream=s1)
            save("host_stateful_2", f.execute(stream=s1))

    def device_stateful():
        s1, s2 = cp.cuda.Stream(), cp.cuda.Stream()
        with s1:
            a = cp.asarray(numbers(4, LARGE))
        with nvmath.fft.FFT(a, axes=(0, 1), stream=s1) as f:
            f.plan(stream=s1)
            b = f.execute(stream=s1)
            e1 = s1.record()
            with s2:
                c = cp.asarray(numbers(5, LARGE))
            s2.wait_event(e1)
            f.reset_operand(c, stream=s2)
            d = f.execute(stream=s2)
            s2.synchronize()
        save("device_stateful_1", cp.asnumpy(b))
        save("device_stateful_2", cp.asnumpy(d))

    def current_stream():
        a = torch.from_numpy(numbers(6, SHAPE).astype(np.complex64)).to("cuda:0")
        s1 = torch.cuda.Stream(device=0)
        f = nvmath.fft.FFT(a, axes=[0, 1])
        planned_on = torch.cuda.current_stream(0)
        f.plan()
        s1.wait_stream(planned_on)
        with s1:
            r = f.execute()
        s1.synchronize()
        f.free()
        save("current_stream", r.cpu().numpy())

    def operand_lifetime():
        def make_fft(stream):
            with stream:
                a = cp.asarray(numbers(7, OWNED))
            return nvmath.fft.FFT(a, axes=[-2, -1], stream=stream, execution="cuda")

        s_alloc, s_exec = cp.cuda.Stream(), cp.cuda.Stream()
        f = make_fft(s_alloc)
        f.plan(stream=s_alloc)
        s_exec.wait_event(s_alloc.record())
        r = f.execute(stream=s_exec)
        s_alloc.wait_event(s_exec.record())
        f.release_operand()
        f.free()
        s_exec.synchronize()
        save("operand_lifetime", cp.asnumpy(r))

    return [
        host_stateless,
        device_stateless,
        deallocation,
        host_stateful,
        device_stateful,
        current_stream,
        operand_lifetime,
    ]


def by_hand(save, transform, inverse):
    """The same results without nvmath-python."""

    def one(name, seed, shape, axes, factor=1, dtype=complex):
        return lambda: save(name, transform((factor * numbers(seed, shape)).astype(dtype), axes))

    def there_and_back():
        save("device_stateless", inverse(transform(numbers(1, SHAPE), (0, 1)), (0, 1)))

    return [
        one("host_stateless_1", 1, SHAPE, (0, 1)),
        one("host_stateless_2", 1, SHAPE, (0, 1), 2),
        there_and_back,
        one("deallocation", 2, SMALL, (-2, -1), 2),
        one("host_stateful_1", 1, SHAPE, (0, 1)),
        one("host_stateful_2", 3, SHAPE, (0, 1)),
        one("device_stateful_1", 4, LARGE, (0, 1)),
        one("device_stateful_2", 5, LARGE, (0, 1)),
        one("current_stream", 6, SHAPE, (0, 1), dtype=np.complex64),
        one("operand_lifetime", 7, OWNED, (-2, -1)),
    ]


def with_cupy(save):
    import cupy as cp

    stream = cp.cuda.Stream()

    def on_device(function):
        def call(a, axes):
            with stream:
                r = function(cp.asarray(a), axes=axes, norm="backward" if function is cp.fft.fftn else "forward")
            return cp.asnumpy(r, stream=stream)

        return call

    return by_hand(save, on_device(cp.fft.fftn), on_device(cp.fft.ifftn))


def with_numpy(save):
    def transform(a, axes):
        # NumPy 1 computes in double precision, so the result is converted.
        return np.fft.fftn(a, axes=axes).astype(a.dtype)

    return by_hand(save, transform, lambda a, axes: np.fft.ifftn(a, axes=axes, norm="forward"))


def run(out, way="nvmath", divisor="1"):
    global SHAPE, LARGE
    SHAPE, LARGE = (tuple(n // int(divisor) for n in shape) for shape in (SHAPE, LARGE))
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)

    def save(name, result):
        step = max(1, -(-result.size // 8192)) | 1
        np.save(out / f"{name}.npy", np.ravel(result)[::step])
        (out / f"{name}.shape").write_text(" ".join(map(str, result.shape)))

    failed = 0
    for program in {"nvmath": with_nvmath, "cupy": with_cupy, "numpy": with_numpy}[way](save):
        try:
            program()
        except Exception as error:
            failed += 1
            print(f"{program.__name__}: {type(error).__name__}: {error}")
    print(f"{way}: {len(list(out.glob('*.npy')))} results, {failed} programs failed")
    return failed


def load(directory, name):
    return np.load(Path(directory) / f"{name}.npy")


def compare(out, other):
    wrong = 0
    names = sorted(path.stem for path in Path(out).glob("*.npy"))
    for name in names:
        try:
            a, b = load(out, name), load(other, name)
        except OSError as error:
            wrong, text = wrong + 1, f"missing: {error}"
        else:
            off = np.max(np.abs(a - b)) / np.median(np.abs(a)) if a.shape == b.shape else np.inf
            fits = off <= TOLERANCES[a.dtype.name]
            wrong, text = wrong + (not fits), f"{off:.1e} of {TOLERANCES[a.dtype.name]:.1e}: {'equal' if fits else 'DIFFERENT'}"
        print(f"{name:<18} {text}")
    print(f"{len(names) - wrong} of {len(names)} results are equal to tolerance")
    return wrong or not names


if __name__ == "__main__":
    command = {"run": run, "compare": compare}[sys.argv[1]]
    sys.exit(1 if command(*sys.argv[2:]) else 0)
