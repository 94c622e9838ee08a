"""Writes `direct.json`: three sparse systems with their solutions by SciPy's `spsolve` (SuperLU).

    pip install scipy==1.17.1
    python3 direct.py
"""

import json
from pathlib import Path

import numpy as np
import scipy
from scipy.sparse import csr_array, diags_array, eye_array, kron
from scipy.sparse.linalg import spsolve


def poisson(side):
    """The five-point stencil on a square: symmetric and positive definite."""
    line = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    return kron(line, eye_array(side)) + kron(eye_array(side), line)


def flow(n):
    """Diffusion in a ring with a strong flow: not symmetric."""
    a = diags_array([-1.9, 2.05, -0.1], offsets=[-1, 0, 1], shape=(n, n)).tolil()
    a[0, n - 1], a[n - 1, 0] = -1.9, -0.1
    return a


def scattered(n, random):
    """Numbers in random places, and rows in another order, so that zeros are on the diagonal: it needs pivots."""
    a = scipy.sparse.random_array((n, n), density=0.03, rng=random, data_sampler=lambda size: random.uniform(-1, 1, size))
    return csr_array(a + diags_array(3.0 + random.uniform(0, 1, n)))[random.permutation(n)]


def system(name, a, random):
    a = csr_array(a)
    a.sort_indices()
    b = random.uniform(-1, 1, a.shape[0])
    numbers = {"offsets": a.indptr, "columns": a.indices, "values": a.data, "b": b, "x": spsolve(a.tocsc(), b)}
    return {"name": name} | {key: value.tolist() for key, value in numbers.items()}


random = np.random.default_rng(5)
systems = [
    system("poisson", poisson(11), random),
    system("flow", flow(97), random),
    system("scattered", scattered(120, random), random),
]
lines = ",\n".join(json.dumps(it) for it in systems)
Path(__file__).with_suffix(".json").write_text(f"[\n{lines}\n]\n")
