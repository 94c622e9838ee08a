"""The distribution, as pip has installed it: what it says of itself, and what it needs."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import needs_gpu
from test_exchange import FAKE

import streamflow as sf

DISTRIBUTION = importlib.metadata.distribution("streamflow-gpu")


def test_one_wheel_is_for_each_python_and_has_its_licences():
    tags = re.findall(r"^Tag: (.*)$", DISTRIBUTION.read_text("WHEEL"), re.MULTILINE)
    assert tags and all(tag.startswith("cp311-abi3-") for tag in tags), tags
    assert DISTRIBUTION.metadata["Requires-Python"] == ">=3.11"
    assert sorted(DISTRIBUTION.metadata.get_all("License-File")) == ["LICENSE-APACHE", "LICENSE-MIT"]
    for licence in DISTRIBUTION.metadata.get_all("License-File"):
        assert "licen" in DISTRIBUTION.read_text(f"licenses/{licence}").lower()


def test_a_registry_shows_a_text_whose_links_lead_somewhere():
    text = DISTRIBUTION.metadata.get_payload() or DISTRIBUTION.metadata["Description"]
    assert text.startswith("# streamflow for Python\n"), text[:100]
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_the_module_is_the_one_that_was_installed():
    installed = {Path(file.locate()).resolve() for file in DISTRIBUTION.files}
    assert Path(sf._streamflow.__file__).resolve() in installed
    assert Path(sf.__file__).resolve() in installed


def test_nothing_but_the_c_library_is_needed_where_no_gpu_is():
    """No driver, no package, no environment variable: an import works, and the platform says why it is the simulator."""
    code = "import streamflow as sf; platform = sf.default_platform(); print(platform.name, platform.why, sep='\\n')"
    ended = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.append({str(Path(sf.__file__).parents[1])!r}); {code}"],
        env={"CUDA_VISIBLE_DEVICES": ""}, capture_output=True, text=True, timeout=60,
    )
    name, why = ended.stdout.splitlines()
    assert name == "host" and why, ended
    assert "the platform is the host simulator: no GPU can be used" in ended.stderr, ended.stderr


NVRTC = """
import streamflow as sf
from streamflow.demo import Scale
scale = Scale()
try:
    with scale.spawn():
        scale.x.push(sf.zeros(3))
        scale.y.take()
except Exception as error:
    print(error)
print([line.split()[-1] for line in open("/proc/self/maps") if "libnvrtc.so" in line][:1])
"""


def test_nvrtc_is_found_among_the_packages_of_the_module():
    """Of an environment that is not active: the interpreter of a virtual environment is called by its path."""
    if list(Path("/usr/local").glob("cuda*/lib64/libnvrtc.so*")):
        pytest.skip("a CUDA toolkit is searched before")
    required = os.environ.get("STREAMFLOW_REQUIRE_NVRTC_WHEEL")
    found = next(Path(sf.__file__).parents[1].glob("nvidia/*/lib/libnvrtc.so.*"), None)
    if found is None and not required:
        pytest.skip("needs NVRTC in the environment: pip install 'streamflow-gpu[cuda13]'")
    if FAKE:
        place = {"LD_LIBRARY_PATH": FAKE}
    else:
        needs_gpu()
        place = {}
    ended = subprocess.run([sys.executable, "-c", NVRTC], env=place, capture_output=True, text=True, timeout=120)
    assert ended.stdout.endswith(f"['{found}']\n"), ended
