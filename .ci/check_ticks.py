"""Compares the JSON of `cuda_stream_pool` at its default size with float64. Arguments: the JSON files."""

import json
import math
import sys

TICKS, ROWS, COLS = 10, 2160, 3840
EPSILON = 2.0**-23
# As documented at the kernels: 20 epsilons for each exponential, 5 * sqrt(n) for the sum.
TOLERANCE = (2 * 20 + 5 * math.sqrt(COLS)) * EPSILON

# The product of the two sources is exp(2 * 10 * i / last), so the row sums are geometric series.
RATIO = 20 / (ROWS * COLS - 1)


def series(first: int, count: int) -> float:
    return math.exp(RATIO * first) * math.expm1(RATIO * count) / math.expm1(RATIO)


def near(value: float, expected: float, what: str) -> None:
    if not abs(value - expected) <= TOLERANCE * expected:
        sys.exit(f"{what} is {value}, not {expected}")


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        ticks = [json.loads(line) for line in file]
    if len(ticks) != TICKS:
        sys.exit(f"{name}: {len(ticks)} ticks, not {TICKS}")
    for number, tick in enumerate(ticks):
        where = f"{name}: tick {number}: "
        if (tick["tick"], tick["shape"], tick["dtype"]) != (number, [ROWS], "float32"):
            sys.exit(f"{where}{tick}")
        if len(tick["head"]) != 4:
            sys.exit(f"{where}head {tick['head']}")
        for row, value in enumerate(tick["head"]):
            near(value, series(row * COLS, COLS), f"{where}row {row}")
        near(tick["sum"], series(0, ROWS * COLS), f"{where}the sum")
print(f"{len(sys.argv) - 1} runs of {TICKS} ticks are right")
