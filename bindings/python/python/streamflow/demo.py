"""Shows how NumPy's arrays become tensors and come back, and runs a graph: ``python -m streamflow.demo``.

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
    print(f"made {sf.zeros((2, 3), 'float32')!r}")
    try:
        import numpy as np
    except ModuleNotFoundError:
        print("NumPy is not installed: `pip install numpy` shows the rest")
        return 0
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = sf.as_tensor(array)
    back = tensor.numpy()
    print("what NumPy has written:", back.tolist())
    shared = np.shares_memory(array, back)
    print("the memory is shared" if shared else "the memory was copied to the GPU and back")
    graph = Scale(factor=10.0)
    with graph.spawn() as running:
        graph.x.push(tensor)
        scaled = graph.y.take().numpy()
        running.finish()
        report = running.join()
    print("ten times as much, by a graph:", scaled.tolist())
    print(report)
    # The memory of the simulator is host memory, so NumPy shares it instead of copying.
    if shared != (platform.name == "host") or not (back == array).all():
        return 1
    return 0 if (scaled == 10 * array).all() else 1


if __name__ == "__main__":
    sys.exit(main())
