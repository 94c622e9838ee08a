"""Two native modules in one process: `streamflow` and `seed_graphs`. Each has the library, its kernels, its platforms and its
classes for itself, so arrays pass between them by the protocols, and no version of the one is bound to one of the other."""

import subprocess
import sys

import numpy as np
import pytest
import seed_001

import seed_graphs as sg
import streamflow as sf
import streamflow.demo


def test_a_tensor_goes_through_a_graph_of_each_module():
    ours, theirs = sf.Platform("host", seed=1), sg.Platform("host", seed=2)
    scale, app = sf.demo.Scale(factor=10.0, platform=ours), sg.AroundPython(platform=theirs)
    with scale.spawn(), app.spawn():
        for i in range(4):
            image = np.full((6, 8, 3), i, np.float32)
            scale.x.push(image)
            scaled = scale.y.take()
            app.source.push(scaled)
            seed_001.compute_receive(np, app.received, app.emitted)
            assert (app.result.take()["tensor"].numpy() == 10 * image + 1).all()


def test_the_memory_of_a_tensor_is_shared_and_given_back():
    """Each module counts its own side."""
    ended = run(
        "import time, streamflow as sf, seed_graphs as sg\n"
        "ours, theirs = sf.Stream(sf.Platform('host')), sg.Stream(sg.Platform('host'))\n"
        "tensor = sf.zeros((2, 3), stream=ours)\n"
        "adopted = sg.from_dlpack(tensor, stream=theirs)\n"
        "counts = lambda: [module.live()[name] for module in (sf, sg) for name in ('adopted', 'lent')]\n"
        "print(*counts())\n"
        "address = lambda tensor: tensor.numpy().__array_interface__['data'][0]\n"
        "print(address(adopted) == address(tensor))\n"
        "del adopted\n"
        "end = time.monotonic() + 10\n"
        # Each call of `empty` takes back memory that other code has returned.
        "while any(counts()) and time.monotonic() < end: sf.empty(1, stream=ours); sg.empty(1, stream=theirs)\n"
        "print(*counts())"
    )
    assert ended.stdout == "0 1 1 0\nTrue\n0 0 0 0\n", ended.stdout + ended.stderr


PLATFORM = "the Platform is of another native module.*pass a Platform of"
STREAM = "the Stream is of another native module.*pass a Stream of"


@pytest.mark.parametrize("call, text", [
    (lambda: sg.AroundPython(platform=sf.Platform("host")), PLATFORM),
    (lambda: sf.demo.Scale(platform=sg.Platform("host")), PLATFORM),
    (lambda: sg.Stream(sf.Platform("host")), PLATFORM),
    (lambda: sg.Stream.default(sf.Platform("host")), PLATFORM),
    (lambda: sg.Stream.from_external(7, sf.Platform("host")), PLATFORM),
    (lambda: sg.zeros(3, stream=of_ours()), STREAM),
    (lambda: sg.empty(3, stream=of_ours()), STREAM),
    (lambda: sg.as_tensor(np.ones(3), stream=of_ours()), STREAM),
    (lambda: sg.from_dlpack(np.ones(3), stream=of_ours()), STREAM),
    (lambda: sg.Event().record(of_ours()), STREAM),
    (lambda: sg.Event().wait(of_ours()), STREAM),
    (lambda: sg.Stream(sg.Platform("host")).wait(of_ours()), STREAM),
    (lambda: sg.Stream(sg.Platform("host")).wait(sf.Event()), "the Event is of another native module"),
    (lambda: sg.Event(timing=True).elapsed_time(sf.Event(timing=True)), "the Event is of another native module"),
])
def test_an_object_of_the_other_module_is_refused_by_name(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def of_ours():
    return sf.Stream(sf.Platform("host"))


def test_an_object_of_another_class_is_named_as_before():
    with pytest.raises(TypeError, match="'int' object is not an instance of 'Stream'"):
        sg.zeros(3, stream=3)
    # An optional argument accepts None.
    assert sg.zeros(3, stream=None).numpy().tolist() == [0, 0, 0]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_a_module_needs_no_other():
    ended = run(
        "import sys; sys.modules['streamflow'] = None\n"
        "import seed_graphs as sg\n"
        "print(sg.zeros(2, stream=sg.Stream(sg.Platform('host'))).numpy())"
    )
    assert ended.stdout == "[0. 0.]\n", ended.stderr


def test_kernels_of_modules_whose_symbols_are_global_stay_apart():
    """Each library has a list of its kernels, between two symbols that each has."""
    ended = run(
        "import os, sys; sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)\n"
        "import numpy as np, streamflow as sf, seed_graphs as sg\n"
        "from streamflow.demo import Scale\n"
        "for factor in (2.0, 3.0):\n"
        "    scale = Scale(factor=factor, platform=sf.Platform('host'))\n"
        "    with scale.spawn():\n"
        "        scale.x.push(np.ones(2, np.float32)); print(scale.y.take().numpy())\n"
        "    app = sg.CudaStreamApp(platform=sg.Platform('host'))\n"
        "    with app.spawn():\n"
        "        for source in (app.source1, app.source2):\n"
        "            source.push(dict(tensor=np.ones((2, 3), np.float32)))\n"
        "        print(app.in1.take()['tensor'].numpy().sum())\n"
    )
    assert ended.stdout == "[2. 2.]\n6.0\n[3. 3.]\n6.0\n", ended.stdout + ended.stderr
