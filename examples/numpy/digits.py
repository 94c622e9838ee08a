"""What the program `digits` reads, computed with NumPy in double precision.

Nothing here comes from the Rust code but the constants. A test compares the program with `digits.json`:

    python3 examples/numpy/digits.py > examples/numpy/digits.json
    python3 examples/numpy/digits.py --check     # compares the file with this NumPy's results
"""

import json
import sys
from pathlib import Path

import numpy as np

PIXELS, HIDDEN, CLASSES, BATCH = 64, 96, 10, 100
TRAINING, FIRST, RIDGE, NOISE = 1000, 2**20, 100.0, 0.5

FONT = np.array(
    [
        [0x3C, 0x66, 0x6E, 0x76, 0x66, 0x66, 0x3C, 0x00],
        [0x18, 0x18, 0x38, 0x18, 0x18, 0x18, 0x7E, 0x00],
        [0x3C, 0x66, 0x06, 0x0C, 0x30, 0x60, 0x7E, 0x00],
        [0x3C, 0x66, 0x06, 0x1C, 0x06, 0x66, 0x3C, 0x00],
        [0x06, 0x0E, 0x1E, 0x66, 0x7F, 0x06, 0x06, 0x00],
        [0x7E, 0x60, 0x7C, 0x06, 0x06, 0x66, 0x3C, 0x00],
        [0x3C, 0x66, 0x60, 0x7C, 0x66, 0x66, 0x3C, 0x00],
        [0x7E, 0x66, 0x0C, 0x18, 0x18, 0x18, 0x18, 0x00],
        [0x3C, 0x66, 0x66, 0x3C, 0x66, 0x66, 0x3C, 0x00],
        [0x3C, 0x66, 0x66, 0x3E, 0x06, 0x66, 0x3C, 0x00],
    ],
    np.uint8,
)


def noise(at):
    """Numbers in -1 to 1, by a hash of 32 bits."""
    h = np.asarray(at, np.uint32) * np.uint32(2654435769)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(739982445)
    h ^= h >> np.uint32(12)
    return (h >> np.uint32(8)) / 2.0**23 - 1


def images(first, count):
    """The images with these numbers, and what they show."""
    numbers = np.arange(first, first + count, dtype=np.uint32)
    labels = numbers * 7 % CLASSES
    lit = np.unpackbits(FONT[labels], axis=1)
    at = numbers[:, None] * np.uint32(PIXELS) + np.arange(PIXELS, dtype=np.uint32)
    return lit + NOISE * noise(at), labels


def train():
    """The weights of both layers, each with its bias as the last row."""
    at = np.uint32(2**32 - 1) - np.arange((PIXELS + 1) * HIDDEN, dtype=np.uint32)
    hidden = noise(at).reshape(PIXELS + 1, HIDDEN) / 4
    x, labels = images(FIRST, TRAINING)
    h = with_one(np.maximum(with_one(x) @ hidden, 0))
    y = np.eye(CLASSES)[labels]
    return hidden, np.linalg.solve(h.T @ h + RIDGE * np.eye(HIDDEN + 1), h.T @ y)


def with_one(x):
    """A column of ones more, which multiplies the bias."""
    return np.hstack([x, np.ones((len(x), 1))])


def reference(ticks):
    """For each tick the classes, how many of them are right, and the sum of all outputs."""
    hidden, output = train()
    result = []
    for tick in range(ticks):
        x, labels = images(tick * BATCH, BATCH)
        outputs = with_one(np.maximum(with_one(x) @ hidden, 0)) @ output
        first, second = np.sort(outputs)[:, :-3:-1].T
        # The two largest outputs differ so much that single precision decides for the same class.
        assert (first - second).min() > 1e-5, tick
        classes = outputs.argmax(axis=1)
        sums = [round(x, 6) for x in outputs.sum(axis=0).tolist()]
        result.append({"classes": classes.tolist(), "right": int((classes == labels).sum()), "sums": sums})
    return result


def is_close(a, b):
    """Whether both have the same classes, and sums that are the same but for the order of additions."""
    same = all(a[name] == b[name] for name in ("classes", "right"))
    return same and np.allclose(a["sums"], b["sums"], atol=2e-6)


if __name__ == "__main__":
    ticks = reference(5)
    if sys.argv[1:] == ["--check"]:
        committed = json.loads(Path(__file__).with_suffix(".json").read_text())
        if len(committed) != len(ticks) or not all(map(is_close, committed, ticks)):
            sys.exit("digits.json differs from what NumPy computes")
    else:
        print("[" + ",\n".join(json.dumps(tick) for tick in ticks) + "]")
