"""DLPack's table by structures of the tests: versions, flags, strides, sizes, names of capsules, and deleters."""

import ctypes
import subprocess
import sys
import threading
import time

import capsules
import numpy as np
import pytest
import simulator
from capsules import Managed, Producer, of, ones
from conftest import address, is_back

import streamflow as sf


def deleted(managed):
    """Whether the deleter was called, within 10 s."""
    end = time.monotonic() + 10
    while managed.deleted == 0 and time.monotonic() < end:
        # An allocation makes the simulator take back the memory that NumPy had.
        simulator.empty(1)
    return managed.deleted == 1


@pytest.mark.parametrize("legacy", [False, True])
def test_both_structures_are_imported_without_a_copy(legacy):
    managed = Managed(ones(2, 3), legacy=legacy)
    tensor = simulator.from_dlpack(of(managed))
    assert tensor.shape == (2, 3) and not tensor.read_only
    assert address(tensor.numpy()) == address(managed.array)
    assert managed.deleted == 0
    del tensor
    assert deleted(managed)


@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4, 99])
def test_each_minor_version_is_imported(minor):
    managed = Managed(ones(3), minor=minor)
    assert (simulator.from_dlpack(of(managed)).numpy() == 1).all()
    assert deleted(managed)


@pytest.mark.parametrize("major", [0, 2, 2**32 - 1])
def test_another_major_version_is_refused_and_given_back_unread(major):
    # Another major version may have other fields after the deleter. So these fields have values that would crash if
    # they were used.
    managed = Managed(ones(3), major=major, ndim=-1, shape=8, data=8)
    with pytest.raises(BufferError, match=rf"DLPack is {major}\.3.*max_version=\(1, 0\)"):
        simulator.from_dlpack(of(managed))
    assert deleted(managed)


def test_the_version_that_is_asked_for_is_1_3():
    managed = Managed(ones(3))
    producer = of(managed)
    simulator.from_dlpack(producer)
    assert producer.calls == [{"max_version": (1, 3)}]


@pytest.mark.parametrize(("flags", "read_only"), [(0, False), (1, True), (2, False), (3, True), (4, False), (2**63, False)])
def test_flags(flags, read_only):
    tensor = simulator.from_dlpack(of(Managed(ones(3), flags=flags)))
    assert tensor.read_only == read_only
    assert np.from_dlpack(tensor).flags.writeable != read_only


def flags_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return capsules.Versioned.from_address(get(capsule, b"dltensor_versioned"))


def test_what_is_exported_says_whether_it_is_a_copy_and_of_what_layout():
    tensor = simulator.zeros((2, 3))
    for copy, flags in [(None, 0), (False, 0), (True, capsules.IS_COPIED)]:
        capsule = tensor.__dlpack__(max_version=(1, 0), copy=copy)
        structure = flags_of(capsule)
        assert (structure.flags, structure.major, structure.minor) == (flags, 1, 3)
        plain = structure.tensor
        numbers = ctypes.c_int64 * 2
        # Since DLPack 1.2, strides are never NULL.
        assert list(numbers.from_address(plain.strides)) == [3, 1]
        assert list(numbers.from_address(plain.shape)) == [2, 3]
        assert plain.data % 256 == 0 and plain.byte_offset == 0
    read_only = simulator.from_dlpack(of(Managed(ones(3), flags=capsules.READ_ONLY)))
    assert flags_of(read_only.__dlpack__(max_version=(1, 0))).flags == capsules.READ_ONLY
    # A copy belongs to the consumer, who may write it even if the original is read only.
    assert flags_of(read_only.__dlpack__(max_version=(1, 0), copy=True)).flags == capsules.IS_COPIED
    assert flags_of(simulator.zeros((0, 3)).__dlpack__(max_version=(1, 0))).tensor.data is None


@pytest.mark.parametrize("legacy", [False, True])
def test_null_strides_are_those_of_a_dense_array(legacy):
    managed = Managed(np.arange(6.0).reshape(2, 3), legacy=legacy, strides=None)
    assert (simulator.from_dlpack(of(managed)).numpy() == managed.array).all()
    assert deleted(managed)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2, 2)])
@pytest.mark.parametrize("legacy", [False, True])
def test_an_empty_tensor_may_have_no_address(shape, legacy):
    managed = Managed(ones(*shape), legacy=legacy, data=None)
    tensor = simulator.from_dlpack(of(managed))
    assert tensor.shape == shape and tensor.numpy().shape == shape
    del tensor
    assert deleted(managed), "also an empty tensor's deleter is called"


def test_a_scalar_may_have_no_shape():
    managed = Managed(np.array(7.0), shape=None, strides=None)
    assert simulator.from_dlpack(of(managed)).numpy() == 7


def test_a_structure_may_have_no_deleter():
    before = sf.live()["adopted"]
    tensor = simulator.from_dlpack(of(Managed(ones(3), deleter=False)))
    assert (tensor.numpy() == 1).all()
    del tensor
    assert is_back("adopted", before)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_capsule_is_renamed_at_once_and_not_taken_twice(legacy):
    managed = Managed(ones(3), legacy=legacy)
    capsule = managed.capsule()
    producer = Producer(lambda **_: capsule)
    tensor = simulator.from_dlpack(producer)
    assert capsules.name_of(capsule) == b"used_" + managed.name
    with pytest.raises(ValueError, match="used already"):
        simulator.from_dlpack(producer)
    assert managed.deleted == 0, "the second call has not touched the structure"
    del tensor
    assert deleted(managed)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_capsule_of_what_is_refused_is_used_and_given_back_once(legacy):
    managed = Managed(ones(3), legacy=legacy, dtype=(9, 4, 1))
    capsule = managed.capsule()
    with pytest.raises(TypeError, match="type 9 of 4 bits"):
        simulator.from_dlpack(Producer(lambda **_: capsule))
    assert capsules.name_of(capsule).startswith(b"used_") and deleted(managed)


@pytest.mark.parametrize("name", [b"", b"dltensor_unversioned", b"DLTENSOR", b"dlpack_exchange_api", "dltensör".encode()])
def test_another_capsule_is_refused_untouched(name):
    managed = Managed(ones(3))
    with pytest.raises(TypeError, match="not a capsule with a DLPack tensor"):
        simulator.from_dlpack(of(managed, name))
    assert managed.deleted == 0
    managed.discard()


def test_a_deleter_runs_on_another_thread_with_the_interpreter_lock():
    managed = Managed(ones(3))
    tensor = simulator.from_dlpack(of(managed))
    del tensor
    assert deleted(managed)
    assert managed.threads != [threading.get_ident()]


def test_a_deleter_is_called_while_other_threads_drop_and_wait():
    # Each thread holds the interpreter lock when it drops a tensor, and the deleters need that lock.
    all_of_them = [Managed(ones(100)) for _ in range(200)]

    def work(part):
        for managed in part:
            tensor = simulator.from_dlpack(of(managed))
            array = tensor.numpy()
            del tensor
            assert (array == 1).all()
            del array

    threads = [threading.Thread(target=work, args=(all_of_them[at::4],)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    # The simulator takes memory back in its next calls.
    assert is_back("adopted", 0)
    assert all(deleted(managed) for managed in all_of_them)


def test_our_deleter_may_be_called_on_any_thread():
    before = sf.live()["lent"]
    arrays = [np.from_dlpack(simulator.zeros(100)) for _ in range(8)]
    threads = [threading.Thread(target=array.__class__.__len__, args=(array,)) for array in arrays]
    del arrays
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    del threads, thread
    assert is_back("lent", before)


def run(code):
    """Runs a program in an interpreter of its own, beside this file."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=__file__.rpartition("/")[0]
    )


def test_a_deleter_is_not_called_after_exit():
    ended = run(
        "import ctypes, simulator\n"
        "from capsules import *\n"
        # The deleter prints without Python, so that its call can be seen after the interpreter's end.
        "libc = ctypes.CDLL(None)\n"
        "import capsules\n"
        "managed = [Managed(ones(3)) for _ in range(50)]\n"
        "for it in managed: it.structure.deleter = ctypes.cast(libc.abort, ctypes.c_void_p).value\n"
        "kept = [simulator.from_dlpack(of(it)) for it in managed]\n"
        "import builtins; builtins.kept = kept\n"
        "print('end')"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")


def test_a_deleter_is_not_called_after_exit_control():
    # A control: without `_stop` at the exit, the deleter would be called. So it is called before the exit.
    ended = run(
        "import ctypes, simulator, time, streamflow as sf\n"
        "from capsules import *\n"
        "it = Managed(ones(3))\n"
        "it.structure.deleter = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value\n"
        "kept = simulator.from_dlpack(of(it))\n"
        "del kept\n"
        "end = time.monotonic() + 10\n"
        "while sf.live()['adopted'] and time.monotonic() < end: simulator.empty(1)\n"
    )
    assert ended.returncode == -6, ended


def test_elements_of_bfloat16():
    """NumPy has none, so the structure is looked at."""
    managed = Managed(np.array([0x3F80, 0x4000], np.uint16), dtype=(4, 16, 1))
    tensor = simulator.from_dlpack(of(managed))
    assert tensor.dtype == "bfloat16" and simulator.zeros(3, "bfloat16").size == 3
    capsule = tensor.__dlpack__(max_version=(1, 0))
    plain = flags_of(capsule).tensor
    assert (plain.dtype.code, plain.dtype.bits, plain.data) == (4, 16, address(managed.array))
    with pytest.raises(AttributeError, match="from_dlpack"):
        tensor.__array_interface__
