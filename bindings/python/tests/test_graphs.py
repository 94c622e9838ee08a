"""Graphs as classes: ports, order, ends, parameters, Ctrl-C and the end of the interpreter."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
import simulator
from conftest import address, needs_gpu
from test_streams import run as run_program

import streamflow as sf
from streamflow.demo import Scale


def graph(seed=None, **arguments):
    """A `Scale` on a simulator of its own."""
    return Scale(platform=sf.Platform("host", seed=seed), **arguments)


def ramp(start, shape=(3, 4)):
    return (start + np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)


@pytest.mark.parametrize("seed", range(8))
def test_messages_cross_a_graph_in_order(seed):
    scale = graph(seed, factor=3.0)
    taken = []
    with scale.spawn() as running:
        taker = threading.Thread(target=lambda: taken.extend(scale.y))
        taker.start()
        for i in range(50):
            scale.x.push(ramp(i))
        running.finish()
        report = running.join()
        taker.join(60)
        assert not taker.is_alive()
    assert [tensor.numpy().tolist() for tensor in taken] == [(3 * ramp(i)).tolist() for i in range(50)]
    assert report.end == "finished" and report.ticks == {"pushed_x": 50, "scale": 50, "taken_y": 50}
    assert report.dropped == [] and report.failures == {} and "pushed_x" in report.why
    edges = ["pushed_x.message >> scale.x", "scale.y >> taken_y.message"]
    assert report.edges == [(edge, 50, 50, 0, 0) for edge in edges] and report.mixed == []
    assert report.elapsed >= 0 and "the host simulator" in str(report)
    assert "pushed_x" in str(report) and "finished" in repr(report)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_graph_on_workers_gives_what_one_thread_gives(workers):
    scale = graph(factor=3.0)
    with scale.spawn(workers=workers) as running:
        for i in range(50):
            scale.x.push(ramp(i))
            assert (scale.y.take().numpy() == 3 * ramp(i)).all()
        running.finish()
        assert running.join().ticks == {"pushed_x": 50, "scale": 50, "taken_y": 50}


def test_a_graph_that_was_given_no_worker_can_still_run():
    scale = graph()
    with pytest.raises(sf.Error, match="at least 1"):
        scale.run(workers=0)
    scale.x.close()
    assert scale.run(workers=2).end == "finished"


@pytest.mark.parametrize("seed", range(8))
def test_a_taken_tensor_is_pushed_on_without_a_wait_of_the_host(seed):
    platform = sf.Platform("host", seed=seed)
    first, second = Scale(factor=2.0, platform=platform), Scale(factor=5.0, platform=platform)
    with first.spawn(), second.spawn():
        for i in range(20):
            first.x.push(ramp(i))
            second.x.push(first.y.take())
            assert (second.y.take().numpy() == 10 * ramp(i)).all()


def test_without_its_order_a_pushed_tensor_is_a_race(monkeypatch):
    """The control of the test above: the same graphs, pushing without the order."""
    monkeypatch.setenv("STREAMFLOW_RACE_CHECK", "1")
    found = []
    for seed in range(8):
        for push in ("push", "_push_unordered"):
            platform = sf.Platform("host", seed=seed)
            first, second = Scale(platform=platform), Scale(platform=platform)
            failed = False
            try:
                with first.spawn(), second.spawn():
                    for i in range(5):
                        first.x.push(ramp(i))
                        getattr(second.x, push)(first.y.take())
                        second.y.take().numpy()
            except sf.Error as error:
                assert "race" in str(error)
                failed = True
            if push == "push":
                assert not failed
            else:
                found.append(failed)
    assert any(found), "no seed has found the race: the test has no power"


def crosses_streams_of_ports(seed, orders):
    """Whether a raw view of what was taken, which knows no order, reaches a second graph whole and without a race. `orders`
    gets the stream of the output and that of the input before the view is pushed."""
    platform = sf.Platform("host", seed=seed)
    first, second = Scale(factor=2.0, platform=platform), Scale(factor=5.0, platform=platform)
    try:
        with first.spawn(), second.spawn():
            for i in range(10):
                first.x.push(ramp(i))
                taken = first.y.take()
                orders(first.y.stream, second.x.stream)
                second.x._push_unordered(taken)
                if not (second.y.take().numpy() == 10 * ramp(i)).all():
                    return False
    except sf.Error as error:
        assert "race" in str(error)
        return False
    return True


@pytest.mark.parametrize("seed", range(8))
def test_work_on_the_streams_of_ports_is_in_order(seed, monkeypatch):
    """The stream of an output comes after what was taken, and the graph after the stream of an input. Nothing else orders
    a raw view."""
    monkeypatch.setenv("STREAMFLOW_RACE_CHECK", "1")
    assert crosses_streams_of_ports(seed, lambda out, into: into.wait(out))


def test_work_on_the_streams_of_ports_is_in_order_control(monkeypatch):
    monkeypatch.setenv("STREAMFLOW_RACE_CHECK", "1")
    ordered = [crosses_streams_of_ports(seed, lambda out, into: None) for seed in range(8)]
    assert not all(ordered), "no seed has found the race: the test has no power"


def test_pushed_memory_is_used_as_it_is_and_returned():
    before = sf.live()["adopted"]
    scale = graph(factor=1.0)
    array = ramp(0)
    with scale.spawn() as running:
        scale.x.push(array)
        assert scale.y.take().numpy().tolist() == array.tolist()
        running.finish()
        running.join()
    end = time.monotonic() + 10
    while sf.live()["adopted"] > before and time.monotonic() < end:
        simulator.empty(1)
    assert sf.live()["adopted"] == before


def test_a_taken_tensor_outlives_its_graph():
    scale = graph(factor=4.0)
    with scale.spawn():
        scale.x.push(ramp(1))
        taken = scale.y.take()
    del scale
    gc.collect()
    assert (taken.numpy() == 4 * ramp(1)).all()
    assert taken.dtype == "float32" and taken.shape == (3, 4) and not taken.read_only
    assert address(np.from_dlpack(taken)) == address(np.from_dlpack(simulator.as_tensor(taken)))


def test_run_needs_no_thread_if_the_inputs_are_closed():
    scale = graph()
    scale.x.push(ramp(0))
    scale.x.push(ramp(1))
    assert len(scale.x) == 2 and len(scale.y) == 0
    scale.x.close()
    scale.x.close()
    report = scale.run()
    assert report.ticks["scale"] == 2
    assert [tensor.numpy()[0, 0] for tensor in scale.y] == [0, 2]
    with pytest.raises(sf.Ended, match="finished by themselves"):
        scale.y.take()


@pytest.mark.parametrize("protocol", ["dlpack", "array_interface"])
def test_an_object_with_any_protocol_is_pushed(protocol):
    array = ramp(2)

    class Object:
        if protocol == "dlpack":
            __dlpack__, __dlpack_device__ = array.__dlpack__, array.__dlpack_device__
        else:
            __array_interface__ = array.__array_interface__

    scale = graph()
    with scale.spawn():
        scale.x.push(Object())
        assert (scale.y.take().numpy() == 2 * array).all()


def test_metadata_travels_with_its_message():
    scale = graph()
    with scale.spawn():
        scale.x.push(ramp(0), metadata={"gain": 0.5, "count": 3, "wide": True, "name": "left"}, sequence=7)
        message = scale.y.take_message()
        assert message.metadata == {"gain": 0.5, "count": 3, "wide": True, "name": "left"}
        assert type(message.metadata["wide"]) is bool and message.sequence == 7
        assert (message.data.numpy() == 2 * ramp(0)).all() and "gain" in repr(message)
        scale.x.push(ramp(0))
        message = scale.y.take_message()
        assert message.metadata == {} and message.sequence == 1
        for wrong, error in [({"a": []}, TypeError), ({"a": 2**70}, ValueError), ({1: 2}, TypeError)]:
            with pytest.raises(error):
                scale.x.push(ramp(0), metadata=wrong)


def test_what_does_not_fit_is_refused_and_the_graph_goes_on():
    scale = graph()
    with scale.spawn():
        with pytest.raises(TypeError, match=r"elements of type float32, and this tensor has float64.*astype"):
            scale.x.push(np.zeros(3))
        with pytest.raises(BufferError):
            scale.x.push(ramp(0)[:, ::2])
        with pytest.raises(TypeError, match="numpy.asarray"):
            scale.x.push([1.0, 2.0])
        with pytest.raises(ValueError, match="timeout"):
            scale.x.push(ramp(0), timeout=-1)
        read_only = ramp(3)
        read_only.flags.writeable = False
        with pytest.raises(BufferError, match=r"read-only.*copy=True"):
            scale.x.push(read_only)
        with pytest.raises(sf.Error):
            scale.x.push(simulator.zeros(3, stream=sf.Stream(sf.Platform("host"))))
        scale.x.push(read_only, copy=True)
        assert (scale.y.take().numpy() == 2 * ramp(3)).all()


def test_a_copy_may_be_written_again():
    scale = graph(seed=3)
    array = ramp(0)
    with scale.spawn():
        for i in range(10):
            array[:] = i
            scale.x.push(array, copy=True)
            array[:] = -1
            assert (scale.y.take().numpy() == 2 * i).all()
        tensor = simulator.as_tensor(array)
        scale.x.push(tensor, copy=True)
        array[:] = 5
        assert (scale.y.take().numpy() == -2).all()


def test_parameters_are_attributes_with_their_ranges():
    scale = graph(factor=3.0)
    assert scale.factor == 3.0
    scale.factor = 4.0
    with scale.spawn() as running:
        scale.x.push(ramp(1))
        assert (scale.y.take().numpy() == 4 * ramp(1)).all()
        with pytest.raises(ValueError, match="-1000"):
            scale.factor = 2000.0
        with pytest.raises(TypeError):
            scale.factor = "much"
        assert scale.factor == 4.0
        scale.factor = 5.0
        scale.x.push(ramp(1))
        assert (scale.y.take().numpy() == 5 * ramp(1)).all()
        running.finish()
        changes = running.join().parameters
        assert [(node, name) for node, name, _, _ in changes][-1] == ("scale", "factor")
    with pytest.raises(sf.Error, match="factor"):
        scale.factor = 1.0
    with pytest.raises(ValueError, match=r"factor.*-1000"):
        graph(factor=1e6)
    with pytest.raises(TypeError):
        graph(factr=1.0)
    with pytest.raises(TypeError):
        graph(factor="x")


def test_ports_of_a_graph_that_has_not_started_do_not_wait_for_ever():
    scale = graph()
    with pytest.raises(sf.Error, match=r"not started; call `spawn\(\)`"):
        scale.y.take()
    for i in range(4):
        scale.x.push(ramp(i))
    with pytest.raises(sf.Error, match=r"full, and the graph has not started"):
        scale.x.push(ramp(4))


def test_ports_of_a_graph_that_has_ended_say_so():
    scale = graph()
    with scale.spawn() as running:
        scale.x.push(ramp(0))
        first = scale.y.take()
        running.stop()
        report = running.join()
        assert report.end == "stopped" and running.join().end == "stopped" and running.is_over
    with pytest.raises(sf.Ended, match=r"port `x` of Scale: nothing can be pushed.*make a new Scale"):
        scale.x.push(first)
    with pytest.raises(sf.Ended, match="its handle stopped it"):
        scale.y.take()
    with pytest.raises(sf.Error, match="has run before"):
        scale.spawn()
    with pytest.raises(sf.Error, match="has run before"):
        scale.run()
    assert list(scale.y) == []
    assert issubclass(sf.Ended, sf.Error)


def test_a_closed_port_says_so():
    scale = graph()
    with scale.spawn() as running:
        scale.x.close()
        with pytest.raises(sf.Ended, match="was closed"):
            scale.x.push(ramp(0))
        assert running.join(timeout=60).end == "finished"
    scale = graph()
    with scale.spawn() as running:
        scale.y.close()
        with pytest.raises(sf.Ended, match="was closed"):
            scale.y.take()
        # Each edge holds a message. After these two messages no operator can run again, so the run ends by itself.
        scale.x.push(ramp(0))
        scale.x.push(ramp(1))
        report = running.join(timeout=1e300)
        assert report.end == "finished"
        assert report.ticks["taken_y"] == 0
        with pytest.raises(sf.Ended, match="finished by themselves: `taken_y`"):
            scale.x.push(ramp(2))


def test_a_full_port_waits_and_times_out():
    scale = graph()
    with scale.spawn():
        with pytest.raises(TimeoutError, match="port `y`"):
            scale.y.take(timeout=0.01)
        with pytest.raises(TimeoutError, match="port `x`"):
            # The ports and the edges have room for few messages, so a push times out.
            for i in range(100):
                scale.x.push(ramp(i), timeout=0.05)
        pushed = scale.y.take()
        assert (pushed.numpy() == 2 * ramp(0)).all()


def test_an_output_that_nobody_takes_holds_the_graph_and_a_stop_ends_it():
    scale = graph()
    with scale.spawn() as running:
        for i in range(6):
            scale.x.push(ramp(i))
        running.finish()
        with pytest.raises(TimeoutError, match="goes on after"):
            running.join(timeout=0.05)
        for wrong in (-1, float("nan"), float("-inf")):
            with pytest.raises(ValueError, match="timeout"):
                running.join(timeout=wrong)
        status = running.status()
        assert status["phase"] == "active" and set(status["nodes"]) == {"pushed_x", "scale", "taken_y"}
        assert "taken_y" in status["text"] and running.report().end == "not_yet"
    assert running.is_over and running.status()["phase"] == "over"
    # The messages that the graph has passed on before the stop can still be taken, in order.
    assert [tensor.numpy()[0, 0] for tensor in scale.y] == [0, 2, 4, 6]


def test_messages_that_a_stop_leaves_at_an_input_are_counted():
    scale = graph()
    with scale.spawn() as running:
        running.pause()
        # After a pause and a report, no node ticks any more.
        running.report()
        scale.x.push(ramp(0))
        scale.x.push(ramp(1))
        assert (len(scale.x), scale.x.left) == (2, 0)
        running.stop()
        assert running.join().ticks["pushed_x"] == 0
    assert (len(scale.x), scale.x.left) == (0, 2)


def test_a_graph_that_uses_all_messages_leaves_none_at_an_input():
    scale = graph()
    scale.x.push(ramp(0))
    with scale.spawn() as running:
        running.finish()
        assert running.join().ticks["pushed_x"] == 1
    assert (len(scale.x), scale.x.left) == (0, 0)


def test_pause_and_resume():
    scale = graph()
    with scale.spawn() as running:
        running.pause()
        running.report()
        scale.x.push(ramp(0))
        with pytest.raises(TimeoutError):
            scale.y.take(timeout=0.02)
        assert running.status()["phase"] == "paused" and "paused" in repr(running)
        running.resume()
        assert (scale.y.take().numpy() == 2 * ramp(0)).all()
    with pytest.raises(sf.Error):
        running.pause()


def test_threads_that_wait_are_released_by_the_end():
    scale = graph()
    ends = []

    def take():
        try:
            while True:
                scale.y.take()
        except sf.Ended as error:
            ends.append(str(error))

    def push():
        try:
            while True:
                scale.x.push(ramp(0))
        except sf.Ended as error:
            ends.append(str(error))

    running = scale.spawn()
    threads = [threading.Thread(target=push) for _ in range(2)]
    threads += [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    running.stop()
    running.join()
    for thread in threads:
        thread.join(60)
    assert len(ends) == 4 and all("its handle stopped it" in text for text in ends)


def test_a_run_that_is_dropped_is_stopped():
    scale = graph()
    running = scale.spawn()
    del running
    gc.collect()
    with pytest.raises(sf.Ended):
        scale.y.take()


def test_an_exception_of_the_block_is_not_hidden():
    scale = graph()
    with pytest.raises(KeyError, match="mine"), scale.spawn() as running:
        raise KeyError("mine")
    assert running.is_over


def interrupted(call, is_ready=lambda: True):
    """Calls a function, which Ctrl-C interrupts: from a thread, once the call has begun and something holds."""
    begun = threading.Event()

    def send():
        begun.wait(30)
        end = time.monotonic() + 30
        while not is_ready() and time.monotonic() < end:
            time.sleep(0.001)
        # The call most often waits by now. A signal before that interrupts it, too; then the test only shows less.
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            begun.set()
            call()
    finally:
        thread.join()


def test_ctrl_c_stops_run():
    scale = graph()
    scale.x.push(ramp(0))
    interrupted(scale.run, lambda: len(scale.y) == 1)
    assert (scale.y.take().numpy() == 2 * ramp(0)).all()
    with pytest.raises(sf.Ended, match="its handle stopped it"):
        scale.y.take()


@pytest.mark.parametrize("call", ["take", "push", "join", "next"])
def test_ctrl_c_ends_each_call_that_waits(call):
    scale = graph()
    with scale.spawn() as running:
        if call == "push":
            with pytest.raises(TimeoutError):
                for i in range(100):
                    scale.x.push(ramp(i), timeout=0.02)
        interrupted({
            "take": scale.y.take,
            "push": lambda: scale.x.push(ramp(0)),
            "join": running.join,
            "next": lambda: next(iter(scale.y)),
        }[call])
        assert not running.is_over
        if call != "push":
            scale.x.push(ramp(9))
            assert (scale.y.take().numpy() == 2 * ramp(9)).all()


@pytest.fixture(params=["host", "cuda"])
def kind(request):
    """The simulator, and a GPU."""
    if request.param == "cuda":
        needs_gpu()
    return request.param


def test_the_interpreter_ends_while_graphs_run(kind):
    ended = run_program(
        "import numpy as np, streamflow as sf, threading\n"
        "from streamflow.demo import Scale\n"
        f"graphs = [Scale(platform=sf.Platform('{kind}')) for _ in range(4)]\n"
        "running = [graph.spawn() for graph in graphs]\n"
        "for graph in graphs:\n"
        "    for _ in range(6): graph.x.push(np.ones(1000, np.float32))\n"
        "def take(graph):\n"
        "    try: list(graph.y)\n"
        "    except BaseException: pass\n"
        "threads = [threading.Thread(target=take, args=(graph,), daemon=True) for graph in graphs[:2]]\n"
        "for thread in threads: thread.start()\n"
        "kept = graphs[2].y.take()\n"
        "del graphs[3]\n"
        "print('end')"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")


def test_a_graph_outlives_the_modules_of_its_program(kind):
    ended = run_program(
        "import numpy as np, streamflow as sf, atexit\n"
        "from streamflow.demo import Scale\n"
        f"scale = Scale(platform=sf.Platform('{kind}')); running = scale.spawn()\n"
        "scale.x.push(np.ones(3, np.float32))\n"
        "import builtins; builtins.kept = (scale, running, scale.y)\n"
        "atexit.register(lambda: running.stop())\n"
        "print(scale.y.take().numpy().tolist())"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[2.0, 2.0, 2.0]\n", "")


def test_names_and_texts():
    scale = graph()
    assert scale.x.name == "x" and [port.name for port in scale.outputs] == ["y"]
    assert repr(scale) == "<Scale: inputs x; outputs y>" and scale.inputs[0] is scale.x
    assert repr(scale.x) == "<streamflow.Input x: a float32 tensor, 0 of 4 wait>"
    assert repr(scale.y) == "<streamflow.Output y: a float32 tensor, 0 of 4 wait>"
    assert isinstance(scale, sf.Graph) and isinstance(scale.x.stream, sf.Stream)
    assert scale.platform.name == "host" and scale.x and scale.y
    with pytest.raises(AttributeError):
        scale.z
    with pytest.raises(AttributeError):
        scale.x = 3
    assert "factor" in Scale.__doc__
