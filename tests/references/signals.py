"""Writes `signals.json`: signals, and what SciPy and NumPy make of them.

    pip install scipy==1.17.1 numpy==2.4.6
    python3 signals.py

Inputs are multiples of 1/256 and not 0, so `f32` has them exactly. Results are computed in `f64`. A complex array is a list of its
parts by turns.
"""

import json
from pathlib import Path

import numpy as np
import scipy
from scipy import signal
from scipy.interpolate import interp1d

VERSIONS = {"scipy": "1.17.1", "numpy": "2.4.6"}
assert {"scipy": scipy.__version__, "numpy": np.__version__} == VERSIONS, "other versions than those of the file"

random = np.random.default_rng(20)


def real(*shape):
    return random.integers(1, 1024, shape) * random.choice([-1, 1], shape) / 256


def numbers(shape, is_complex):
    return real(*shape) + 1j * real(*shape) if is_complex else real(*shape)


def flat(array):
    array = np.ascontiguousarray(array)
    if np.iscomplexobj(array):
        array = array.astype(np.complex128).view(np.float64) if array.size else np.zeros(0)
    return [int(x) if float(x).is_integer() else float(f"{x:.9g}") for x in array.ravel()]


def fir(rows, taps, lengths, is_complex=False, has_complex_taps=False):
    taps = numbers([taps], has_complex_taps)
    blocks = [numbers([*rows, length], is_complex) for length in lengths]
    filtered = signal.lfilter(taps, 1, np.concatenate(blocks, axis=-1))
    ends = np.cumsum(lengths)[:-1]
    return {
        "complex": is_complex,
        "complex_taps": has_complex_taps,
        "taps": flat(taps),
        "blocks": [{"shape": x.shape, "x": flat(x), "y": flat(y)} for x, y in zip(blocks, np.split(filtered, ends, axis=-1))],
    }


def polyphase(shape, taps, up, down, is_complex=False, has_complex_taps=False):
    taps, x = numbers([taps], has_complex_taps), numbers(shape, is_complex)
    y = signal.upfirdn(taps, x, up, down)
    parts = {"complex": is_complex, "complex_taps": has_complex_taps, "taps": flat(taps), "up": up, "down": down}
    return parts | {"shape": x.shape, "x": flat(x), "new_shape": y.shape, "y": flat(y)}


def hilbert(*shape):
    x = real(*shape)
    return {"shape": shape, "x": flat(x), "y": flat(signal.hilbert(x))}


def stft(shape, window, hop, pads=True, is_complex=False):
    """The spectra of `signal.stft` without its scaling, with one spectrum in one piece, and the signal of other spectra."""
    window = real(window) if isinstance(window, int) else signal.get_window("hann", window[0]).astype(np.float32)
    x = numbers(shape, is_complex)
    n = len(window)
    padding = {"boundary": "zeros", "padded": True} if pads else {"boundary": None, "padded": False}
    options = {"window": window.astype(np.float64), "nperseg": n, "noverlap": n - hop}
    # SciPy refuses signals that are shorter than the window. Zeros after them add segments alone.
    longer = np.concatenate([x, np.zeros([*shape[:-1], max(n - shape[-1], 0)])], axis=-1)
    _, _, z = signal.stft(longer, **options, **padding, return_onesided=not is_complex, detrend=False)
    segments = -((n - shape[-1] - n // 2 * 2) // hop) + 1 if pads else z.shape[-1]
    z = z[..., :segments] * abs(options["window"].sum())
    transform = signal.ShortTimeFFT(options["window"], hop, 1, fft_mode="twosided" if is_complex else "onesided", phase_shift=None)
    if pads:
        # It leaves out segments of zeros alone.
        other = transform.stft(longer, p0=0, p1=min(segments, transform.p_max(longer.shape[-1])))
        assert np.allclose(z[..., : other.shape[-1]], other) and np.allclose(z[..., other.shape[-1] :], 0)
    changed = z * real(*z.shape)
    _, back = signal.istft(changed / options["window"].sum(), **options, boundary=pads, input_onesided=not is_complex)
    spectra, changed = np.swapaxes(z, -1, -2), np.swapaxes(changed, -1, -2)
    parts = {"complex": is_complex, "window": flat(window), "hop": hop, "pads": pads, "shape": x.shape, "x": flat(x)}
    parts |= {"spectra_shape": spectra.shape, "spectra": flat(spectra), "changed": flat(changed)}
    return parts | {"signal_shape": back.shape, "signal": flat(back)}


def peaks(x, most, heights=None, distance=None):
    x = np.asarray(x, dtype=np.float64)
    rows = x.reshape(-1, x.shape[-1])
    found = [signal.find_peaks(row, height=heights, distance=distance)[0] for row in rows]
    positions = [p[:most].tolist() + [2**32 - 1] * (most - len(p)) for p in found]
    tops = [row[p[:most]].tolist() for row, p in zip(rows, found)]
    parts = {"shape": x.shape, "x": flat(x), "most": most, "heights": heights, "distance": distance}
    return parts | {"positions": sum(positions, []), "tops": sum(tops, []), "counts": [len(p) for p in found]}


def steps(*shape):
    """Signals with plateaus, also at their ends."""
    return np.repeat(random.integers(1, 7, shape), 3, axis=-1)[..., 1:-1]


def interpolate(shape, positions, has_knots, kind, fill=None, is_complex=False):
    x = numbers(shape, is_complex)
    knots = np.cumsum(random.integers(1, 512, shape[-1:])) / 256 - 2 if has_knots else np.arange(shape[-1])
    span = knots[-1] - knots[0]
    at = knots[0] - 0.25 * span + random.integers(0, 1024, positions) / 1024 * 1.5 * span
    # The ends, some samples themselves, and the middles of some.
    some = np.concatenate([knots[:3], knots[-2:], (knots[:3] + knots[1:4]) / 2])
    at = np.round(np.concatenate([at.ravel(), some]) * 512) / 512
    if kind == "linear" and fill is None and not is_complex and len(shape) == 1:
        y = np.interp(at, knots, x)
    else:
        ends = (x[..., 0], x[..., -1]) if fill is None else fill
        y = interp1d(knots, x, kind=kind, bounds_error=False, fill_value=ends)(at)
    parts = {"complex": is_complex, "knots": flat(knots) if has_knots else None, "nearest": kind == "nearest", "fill": fill}
    return parts | {"shape": x.shape, "x": flat(x), "positions": flat(at), "new_shape": y.shape, "y": flat(y)}


def transpose(shape, axes, is_complex=False):
    x = numbers(shape, is_complex)
    y = np.transpose(x, axes)
    return {"complex": is_complex, "axes": axes, "shape": shape, "x": flat(x), "new_shape": y.shape, "y": flat(y)}


def gather(shape, axis, indices, mode="raise", is_complex=False):
    x = numbers(shape, is_complex)
    length = shape[axis]
    low, high = (-length, length) if mode == "raise" else (-2 * length, 3 * length)
    at = random.integers(low, high, indices)
    y = np.take(x, at, axis=axis, mode=mode)
    parts = {"complex": is_complex, "axis": axis, "clamps": mode == "clip", "shape": shape, "x": flat(x)}
    return parts | {"indices_shape": at.shape, "indices": flat(at), "new_shape": y.shape, "y": flat(y)}


cases = {
    "versions": VERSIONS,
    "fir": [
        fir([], 5, [9, 1, 0, 4, 13]),
        fir([], 1, [3, 2]),
        fir([2, 3], 17, [7, 5, 31]),
        fir([3], 2, [1, 1, 1, 6]),
        fir([2], 9, [4, 11, 3], is_complex=True),
        fir([2], 8, [5, 1, 10], is_complex=True, has_complex_taps=True),
    ],
    "polyphase": [
        polyphase([1], 1, 1, 1),
        polyphase([13], 7, 3, 2),
        polyphase([2, 3, 21], 24, 2, 3),
        polyphase([2, 31], 40, 5, 7),
        polyphase([3, 17], 4, 1, 4),
        polyphase([17], 3, 6, 1),
        polyphase([2, 19], 11, 3, 4, is_complex=True),
        polyphase([2, 14], 10, 4, 3, is_complex=True, has_complex_taps=True),
    ],
    "hilbert": [hilbert(*shape) for shape in [(1,), (2,), (3,), (2, 8), (2, 3, 9), (31,), (64,), (2, 45)]],
    "stft": [
        stft([31], (8,), 4),
        stft([2, 20], (9,), 3),
        stft([1], (8,), 3),
        stft([2, 2, 17], 16, 5),
        stft([23], 7, 7),
        stft([6], 5, 1),
        stft([33], (8,), 4, pads=False),
        stft([2, 22], 7, 3, pads=False),
        stft([2, 19], (8,), 3, is_complex=True),
        stft([21], 9, 4, pads=False, is_complex=True),
    ],
    "peaks": [
        peaks(real(3, 60), 25),
        peaks(steps(2, 3, 25), 12),
        peaks(real(2, 80), 4),
        peaks(real(80), 30, heights=(0.5, 2.25)),
        peaks(real(3, 90), 30, distance=7),
        peaks(np.arange(1, 90) * (1 + np.arange(89) % 2), 45, distance=3),
        peaks(np.arange(90, 1, -1) * (1 + np.arange(89) % 2), 45, distance=9),
        peaks(real(2, 70), 3, heights=(-2.0, 3.5), distance=4),
        peaks([1, 2, 1, 2, 1, 2, 1, 2, 1], 4, distance=3),
        peaks(np.full([2, 15], 3.5), 2, distance=2),
        peaks([[1.5], [2.5]], 2, distance=5),
        peaks(real(4, 2), 2),
    ],
    "interpolate": [
        interpolate([12], 30, False, "linear"),
        interpolate([12], 30, True, "linear"),
        interpolate([2, 3, 9], 20, True, "linear"),
        interpolate([2, 9], 20, False, "linear", fill=-7.5),
        interpolate([3, 8], 25, True, "nearest"),
        interpolate([2, 11], 25, False, "nearest", fill=0.5),
        interpolate([2, 9], 20, True, "linear", is_complex=True),
        interpolate([2, 9], 20, False, "nearest", is_complex=True),
    ],
    "transpose": [
        transpose([7], [0]),
        transpose([5, 3], [1, 0]),
        transpose([2, 3, 5], [2, 0, 1]),
        transpose([3, 2, 4], [1, 0, 2]),
        transpose([2, 3, 4, 5], [3, 1, 0, 2]),
        transpose([2, 1, 3, 4], [0, 1, 2, 3]),
        transpose([3, 4, 2], [2, 1, 0], is_complex=True),
    ],
    "gather": [
        gather([9], 0, [5]),
        gather([3, 7], 1, [4]),
        gather([3, 7], 0, [2, 3]),
        gather([2, 3, 4, 5], 2, [3, 1, 2]),
        gather([4, 6], 1, [12], mode="clip"),
        gather([2, 5, 3], 1, [7], is_complex=True),
    ],
}
lines = ",\n".join(f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in cases.items())
Path(__file__).with_suffix(".json").write_text(f"{{\n{lines}\n}}\n")
