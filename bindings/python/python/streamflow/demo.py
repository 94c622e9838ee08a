"""Shows that memory is shared with NumPy, in both directions: ``python -m streamflow.demo``."""

import sys

import streamflow as sf


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
    return 0 if shared and same.tolist() == [[0, 1, 2], [3, 4, 5]] else 1


if __name__ == "__main__":
    sys.exit(main())
