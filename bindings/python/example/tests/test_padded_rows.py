"""Frames with padded rows at a port that takes them as they are."""

import numpy as np
import seed_graphs as sg

BESIDE = 200
PLATFORM = sg.Platform("host")


def frame():
    """A frame of odd distance between its rows, and the wider array that it is a part of."""
    wide = np.full((4, 29), BESIDE, np.uint8)
    part = np.lib.stride_tricks.as_strided(wide[:, 2:], (4, 5, 3), (29, 3, 1))
    part[:] = np.arange(60).reshape(4, 5, 3)
    return part, wide


def address(array):
    return array.__array_interface__["data"][0]


def pushed(array, **arguments):
    app = sg.PassFrames(platform=PLATFORM)
    with app.spawn():
        app.frames.push(array, **arguments)
        return app.passed.take()


def test_a_frame_passes_with_its_padding():
    part, wide = frame()
    taken = pushed(part).numpy()
    assert address(taken) == address(part) and taken.strides == (29, 3, 1)
    assert (taken == np.arange(60).reshape(4, 5, 3)).all()
    taken[:] = 1
    assert (part == 1).all() and (wide == 1).sum() == 60 and (wide == BESIDE).sum() == wide.size - 60


def test_a_tensor_and_a_dense_frame_pass_too():
    part, _ = frame()
    tensor = sg.from_dlpack(part, stream=sg.Stream(PLATFORM))
    assert address(pushed(tensor, copy=False).numpy()) == address(part)
    dense = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert address(pushed(dense, copy=False).numpy()) == address(dense)


def test_a_read_only_frame_needs_a_copy():
    part, _ = frame()
    part.flags.writeable = False
    try:
        pushed(part)
    except BufferError as error:
        assert "read-only" in str(error) and "copy=True" in str(error)
    else:
        raise AssertionError("a read-only frame was taken")
    assert (pushed(part, copy=True).numpy() == part).all()
