"""An operator in Python that holds messages back sends them when its input has ended."""

import threading

import numpy as np
import pytest

import seed_graphs as sg

# The longest time in seconds that a test waits. A test that waits longer fails.
LONG = 60


class SumOfFour:
    """Sends the sum of each four images. Fewer are left at the end: `flush` sends them one by one."""

    def __init__(self, into, out):
        self.into, self.out, self.held = into, out, []

    def run(self):
        for image in self.into:
            self.compute(image)
        while self.flush():
            pass
        self.out.close()

    def compute(self, image):
        self.held.append(image.numpy().copy())
        if len(self.held) == 4:
            self.out.push(dict(sum=sum(self.held)))
            self.held.clear()

    def flush(self):
        """Whether it has more."""
        if self.held:
            self.out.push(dict(sum=self.held.pop(0)))
        return bool(self.held)


def ran(graph, count, workers):
    """The sums of images of one number each, and the report."""
    operator = SumOfFour(graph.received, graph.emitted)
    thread = threading.Thread(target=operator.run, daemon=True)
    with graph.spawn(workers=workers) as running:
        thread.start()
        for number in range(count):
            graph.source.push(np.full((1, 1, 3), number, np.float32), timeout=LONG)
        graph.source.close()
        results = [graph.result.take(timeout=LONG) for _ in range(count // 4 + count % 4)]
        report = running.join(timeout=LONG)
    thread.join(LONG)
    assert not thread.is_alive()
    return [int(result["sum"].numpy()[0, 0, 0]) for result in results], report


@pytest.mark.parametrize("workers", [None, 2])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_held_back_is_sent_when_the_input_has_ended(seed, workers):
    graph = sg.AroundPython(platform=sg.Platform("host", seed=seed))
    sums, report = ran(graph, 11, workers)
    assert sums == [0 + 1 + 2 + 3, 4 + 5 + 6 + 7, 8, 9, 10]
    assert report.end == "finished" and report.dropped == []
    assert report.ticks["rx"] == 5 and report.ticks["pushed_emitted"] == 5


@pytest.mark.parametrize("workers", [None, 2])
def test_an_operator_without_an_image_is_flushed(workers):
    graph = sg.AroundPython(platform=sg.Platform("host"))
    assert ran(graph, 0, workers)[0] == []


def test_an_input_that_has_ended_says_so_while_the_run_goes_on():
    graph = sg.AroundPython(platform=sg.Platform("host"))
    with graph.spawn() as running:
        graph.source.push(np.zeros((1, 1, 3), np.float32))
        graph.source.close()
        assert graph.received.take(timeout=LONG).shape == (1, 1, 3)
        with pytest.raises(sg.Ended, match=r"port `received` of AroundPython: nothing is left.*all nodes before it have ended"):
            graph.received.take(timeout=LONG)
        assert list(graph.received) == [] and not running.is_over
        graph.emitted.push(dict(late=np.ones(2, np.float32)), timeout=LONG)
        assert (graph.result.take(timeout=LONG)["late"].numpy() == 1).all()
        graph.emitted.close()
        assert running.join(timeout=LONG).end == "finished"


def test_an_input_is_not_flushed_when_the_run_is_stopped():
    graph = sg.AroundPython(platform=sg.Platform("host"))
    with graph.spawn() as running:
        graph.source.push(np.zeros((1, 1, 3), np.float32))
        graph.received.take(timeout=LONG)
        running.stop()
        report = running.join(timeout=LONG)
        with pytest.raises(sg.Ended, match="the run has ended"):
            graph.received.take(timeout=LONG)
    assert "taken_received" in str(report) and "not to its end" in str(report)


def test_a_program_that_takes_no_more_keeps_no_flush_waiting():
    graph = sg.AroundPython(platform=sg.Platform("host"))
    with graph.spawn() as running:
        graph.source.push(np.zeros((1, 1, 3), np.float32))
        graph.received.take(timeout=LONG)
        graph.received.close()
        graph.source.close()
        graph.emitted.close()
        report = running.join(timeout=LONG)
    assert report.end == "finished"
