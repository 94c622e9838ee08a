"""The programs of seeds 000 to 003, by their results. On the simulator with NumPy; on a GPU with CuPy."""

import numpy as np
import pytest
import seed_000
import seed_001
import seed_002
import seed_003
from library import library_of, on

import seed_graphs as sg

PLATFORMS = [*range(8), "cuda"]


@pytest.fixture(params=PLATFORMS)
def platform(request):
    """The simulator under 8 seeds, and the GPU."""
    if request.param != "cuda":
        return sg.Platform("host", seed=request.param)
    pytest.importorskip("cupy", reason="CuPy is not installed, which the programs use on a GPU")
    try:
        return sg.Platform("cuda")
    except sg.Error as error:
        pytest.skip(f"no GPU can be used: {error}")


def images(count, rows=6, cols=8):
    return [
        (np.arange(rows * cols * 3, dtype=np.float32) + i).reshape(rows, cols, 3) for i in range(count)
    ]


@pytest.mark.parametrize("use_default_stream", [False, True])
def test_seed_000_runs_whole(platform, use_default_stream, capfd):
    rows, cols, count = 24, 40, 5
    results, report = seed_000.main(platform, rows, cols, count, use_default_stream)
    image = np.exp(np.linspace(0, 10, rows * cols)).reshape(rows, cols)
    expected = (image * image).sum(axis=1)
    assert len(results) == count
    for sums in results:
        np.testing.assert_allclose(sums, expected, rtol=1e-4)
    assert report.ticks["rx"] == count and report.dropped == []
    assert capfd.readouterr().out.count(f"tensor: float32[{rows}]") == count


def around(platform):
    app = sg.AroundPython(platform=platform)
    return library_of(platform), app


def test_seed_001_receive_and_its_stream(platform):
    xp, app = around(platform)
    with app.spawn():
        for image in images(4):
            app.source.push(xp.array(image))
            seed_001.compute_receive(xp, app.received, app.emitted)
            assert (app.result.take()["tensor"].numpy() == image + 1).all()


def test_seed_001_receivers(platform):
    xp, first = around(platform)
    second, third = around(platform)[1], around(platform)[1]
    with first.spawn(), second.spawn(), third.spawn():
        one, two = images(2)
        first.source.push(xp.array(one))
        second.source.push(xp.array(two))
        seed_001.compute_receivers(xp, [first.received, second.received], third.emitted)
        assert (third.result.take()["tensor"].numpy() == one + two).all()


def test_seed_001_a_stream_beside_the_ports(platform):
    xp, app = around(platform)
    my_stream = seed_001.allocate_cuda_stream(platform)
    assert seed_001.device_from_stream(my_stream) == seed_001.device_from_stream(app.received.stream) == 0
    with app.spawn():
        for image in images(4):
            app.source.push(xp.array(image))
            seed_001.compute_extra_stream(xp, app.received, app.emitted, my_stream)
            assert (app.result.take()["tensor"].numpy() == image * 3).all()


def test_seed_001_a_green_context(platform):
    xp = library_of(platform)
    try:
        app = sg.OnGreenContext(platform=platform)
    except sg.Error as error:
        if platform.name == "host":
            raise
        pytest.skip(f"the GPU has no such green context: {error}")
    with app.spawn():
        for image in images(3):
            app.receiver.push(dict(image=xp.array(image)))
            assert (app.tensor.take()["image"].numpy() == image).all()


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("cupy_op", None),
        ("cuda_python_op", None),
        ("torch_op", "torch"),
        ("cucim_op", "cucim"),
        ("cvcuda_op", "cvcuda"),
        ("opencv_op", "cv2"),
    ],
)
def test_seed_002_a_library_in_the_pipeline(platform, name, library):
    if library is not None:
        if platform.name != "cuda":
            pytest.skip(f"{library} works on a GPU alone")
        module = pytest.importorskip(library, reason=f"{library} is not installed")
        if library == "cv2" and module.cuda.getCudaEnabledDeviceCount() == 0:
            pytest.skip("this OpenCV is built without CUDA")
    inputs = images(3)
    results = seed_002.run(platform, getattr(seed_002, name), inputs)
    for image, result in zip(inputs, results, strict=True):
        match name:
            case "cupy_op":
                assert (result == np.clip(image * 2 + 1, 0, 255)).all()
            case "cuda_python_op" | "torch_op":
                assert (result == image * 2).all()
            case "opencv_op":
                assert (result == image[:, :, ::-1]).all()
            case "cucim_op":
                exposure = pytest.importorskip("skimage.exposure", reason="the reference is scikit-image")
                expected = np.round(exposure.equalize_adapthist(image / 255) * 255)
                assert np.abs(result.astype(float) - expected).max() <= 1
            case "cvcuda_op":
                # Linear interpolation stays within the range of the image, and keeps the mean of a ramp.
                assert result.shape == (640, 640, 3)
                assert image.min() <= result.min() and result.max() <= image.max()
                assert abs(result.mean() - image.mean()) < 0.01 * image.mean() + 0.5


def test_seed_002_an_operator_that_is_cpp_there(platform):
    xp, app = library_of(platform), sg.RemapBoxes(platform=platform)
    boxes = np.arange(20, dtype=np.float32).reshape(1, 5, 4)
    with app.spawn():
        for label in ([3, 0, 3], [4], []):
            label = np.array(label, np.int32)
            assert (seed_002.matx_op(xp, boxes, label, app).numpy() == boxes[:, label]).all()
        unknown = np.array([5, -1, 1], np.int32)
        found = seed_002.matx_op(xp, boxes, unknown, app).numpy()
        assert (found[0, :2] == 0).all() and (found[0, 2] == boxes[0, 1]).all()


def test_seed_003_sums_on_a_stream(platform):
    total, milliseconds = seed_003.main(platform)
    assert total == 45 and milliseconds >= 0


def test_a_dict_of_named_tensors_is_a_struct(platform):
    xp = library_of(platform)
    app = sg.AddDetections(platform=platform)
    boxes, scores = np.arange(5, dtype=np.float32), np.full(5, 10, np.float32)

    def array(values):
        return xp.asarray(values.copy())

    with app.spawn():
        with on(xp, app.detections.stream):
            app.detections.push(dict(boxes=array(boxes), scores=array(scores)))
        assert (app.sum.take().numpy() == boxes + scores).all()
        with pytest.raises(ValueError, match="port `detections`.*scores"):
            app.detections.push(dict(boxes=array(boxes)))
        with pytest.raises(ValueError, match="score"):
            app.detections.push(dict(boxes=array(boxes), scores=array(scores), score=array(scores)))
        with pytest.raises(ValueError, match="boxes"):
            app.detections.push(dict(boxes=array(boxes.astype(np.int32)), scores=array(scores)))
        with pytest.raises(TypeError, match="dict of tensors by name"):
            app.detections.push(array(boxes))
        with pytest.raises(TypeError, match="names are strings"):
            app.detections.push({1: array(boxes)})
    assert "boxes" in repr(app.detections)


def test_shapes_are_those_of_the_port(platform):
    xp = library_of(platform)
    app = sg.AroundPython(platform=platform)
    with app.spawn():
        for shape in [(4, 3), (4, 4, 4), (3,)]:
            with pytest.raises(ValueError, match=r"takes tensors of shape \(\*, \*, 3\), and this one has"):
                app.source.push(xp.zeros(shape, xp.float32))
    assert "of shape (*, *, 3)" in repr(app.source) and "of 2 wait" in repr(app.source)


def test_a_failed_graph_raises_its_error_at_each_end(platform):
    xp = library_of(platform)
    app = sg.AddDetections(platform=platform)
    running = app.spawn()
    # The shapes of the two arrays do not fit.
    app.detections.push(dict(boxes=xp.zeros(3, xp.float32), scores=xp.zeros(4, xp.float32)))
    with pytest.raises(sg.Ended, match="`scores` is"):
        app.sum.take()
    with pytest.raises(sg.Ended, match="`scores` is"):
        next(iter(app.sum))
    with pytest.raises(sg.Ended, match="`scores` is"):
        app.detections.push(dict(boxes=xp.zeros(3, xp.float32), scores=xp.zeros(3, xp.float32)))
    for _ in range(2):
        with pytest.raises(sg.Error, match=r"(?s)add.*`scores` is"):
            running.join()
    assert running.report().end == "failed" and running.report().failures == {"add": 1}


def test_a_join_that_mixes_frames_is_in_the_report(platform):
    xp = library_of(platform)
    app = sg.JoinSkipped(platform=platform)
    with app.spawn() as running:
        for _ in range(4):
            app.frames.push(xp.zeros(3, xp.float32))
        for _ in range(2):
            app.joined.take()
        running.finish()
        report = running.join()
    # The join has combined the frames 0 and 1 with the frames 1 and 3.
    assert report.mixed == [("join", 2, "pushed_frames", ("frame", "passed"), (0, 1))]
    # Two frames are left on an edge, since no message comes for them on the other edge.
    assert report.edges == [
        ("pushed_frames.message >> second.frame", 4, 4, 0, 0),
        ("pushed_frames.message >> join.frame", 4, 2, 0, 2),
        ("second.passed >> join.passed", 2, 2, 0, 0),
        ("join.joined >> taken_joined.message", 2, 2, 0, 0),
    ]
    assert report.dropped == [("pushed_frames.message >> join.frame", 2, "the run ended")]


@pytest.mark.parametrize(("graph", "name"), [(sg.NoReady, "ready"), (sg.NoRoom, "room")])
def test_a_port_without_its_condition_fails_and_says_what_to_write(platform, graph, name):
    app = graph(platform=platform)
    xp = library_of(platform)
    if name == "room":
        app.x.push(xp.zeros(3, xp.float32))
        app.x.close()
    with pytest.raises(sg.Error, match=rf"write `#\[when\(condition\(port\.{name}\(\)\)\)\]`"):
        app.run()


def test_modules_exchange_tensors_by_the_protocols(platform):
    streamflow = pytest.importorskip("streamflow")
    other = streamflow.Platform(platform.name)
    tensor = streamflow.zeros((2, 2, 3), stream=streamflow.Stream(other))
    assert not isinstance(tensor, sg.Tensor)
    app = sg.AroundPython(platform=platform)
    with app.spawn():
        app.source.push(tensor)
        assert (app.received.take().numpy() == 0).all()
