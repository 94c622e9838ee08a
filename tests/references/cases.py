"""The cases of a file of references, and its text."""

import json
import sys

import numpy as np


class Cases:
    """Results by name, as whole numbers, or as floats with this many digits."""

    def __init__(self, digits):
        self.digits, self.all = digits, {}

    def __call__(self, name, values):
        values = np.asarray(values)
        if values.dtype.kind == "f":
            self.all[name] = [float(f"{v:.{self.digits}g}") for v in values.ravel()]
        else:
            self.all[name] = [int(v) for v in values.ravel()]

    def write(self, packages, **more):
        """Prints the file. `packages` are the modules that made the results."""
        versions = {"python": sys.version.split()[0]} | {name: module.__version__ for name, module in packages.items()}
        about = {"versions": versions, **more, "cases": self.all}
        print(json.dumps(about, separators=(",", ":")).replace('],"', '],\n"'))
