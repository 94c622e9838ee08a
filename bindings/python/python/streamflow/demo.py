"""Shows that memory is shared with NumPy, and runs a graph: ``python -m streamflow.demo``.

`Scale` is the graph: it multiplies each tensor of its input `x` by `factor`, and sends it to its output `y`.
"""

import sys

import streamflow as sf
from streamflow._streamflow import Scale

__all__ = ["Scale", "main"]


def main() -> int:
    """Runs the demo, and returns the exit code of the process."""
    platform = sf.default_platform()
    print(f"platform {platform.name}: {platform.why}")
    tensor = sf.zeros((2, 3), "float32")
    print(f"made {tensor!r}")
    try:
        import numpy as np
    except ImportError:
        print("NumPy is not installed: `pip install numpy` shows the rest")
        return 0
    if platform.name == "cuda":
        print("a copy on the host:", tensor.numpy().tolist())
        return 0
    array = np.from_dlpack(tensor)
    array[:] = np.arange(6, dtype=np.float32).reshape(2, 3)
    back = sf.from_dlpack(array)
    same = np.asarray(back)
    print("what NumPy has written:", same.tolist())
    shared = same.__array_interface__["data"][0] == array.__array_interface__["data"][0]
    print("the memory is shared" if shared else "the memory was copied")
    graph = Scale(factor=10.0)
    with graph.spawn() as running:
        graph.x.push(back)
        scaled = graph.y.take().numpy()
        running.finish()
        report = running.join()
    print("ten times as much, by a graph:", scaled.tolist())
    print(report)
    if not shared or same.tolist() != [[0, 1, 2], [3, 4, 5]]:
        return 1
    return 0 if (scaled == 10 * same).all() else 1


if __name__ == "__main__":
    sys.exit(main())
