"""Seed 000: NVIDIA's CudaStreamPool example, whole.

Two sources and an operator between them and the sink are Python, as there. The graph, its pool of 5 streams, the sink
`PingTensorRxOp` and its `CudaStreamCondition` are `seed_graphs.CudaStreamApp`, in Rust. Each class below has the
`compute` of the operator of that name; its ports are those of the graph.
"""

import seed_graphs as sg
from library import library_of, on


class CuPySourceOp:
    """Emits an image on the stream of its output."""

    def __init__(self, xp, out, rows, cols):
        self.xp, self.out, self.rows, self.cols = xp, out, rows, cols

    def compute(self):
        xp = self.xp
        # In the guide: stream = context.allocate_cuda_stream(…); op_output.set_cuda_stream(stream, "out")
        with on(xp, self.out.stream):
            image = xp.exp(xp.linspace(0, 10, self.rows * self.cols, dtype=xp.float32))
            tensor = image.reshape(self.rows, self.cols)
        # In the guide: op_output.emit(dict(tensor=tensor), "out")
        self.out.push(dict(tensor=tensor))


class CuPyProcessOp:
    """Multiplies two images and sums each row, on the stream of its output."""

    def __init__(self, xp, in1, in2, out):
        self.xp, self.in1, self.in2, self.out = xp, in1, in2, out

    def compute(self):
        xp, out = self.xp, self.out
        # In the guide: tensor1 = op_input.receive("in1")["tensor"], and then op_input.receive_cuda_stream("in1")
        tensor1, tensor2 = self.in1.take()["tensor"], self.in2.take()["tensor"]
        with on(xp, out.stream):
            # The library's current stream waits for both sources. Unlike in the guide, no code sets `["stream"] =
            # None`.
            a, b = xp.from_dlpack(tensor1), xp.from_dlpack(tensor2)
            sums = (a * b).sum(axis=1)
        out.push(dict(tensor=sums))


def main(platform, rows=2160, cols=3840, count=10, use_default_stream=False, verbose=True):
    """Runs the application. Returns the row sums of each tick, as NumPy arrays."""
    xp = library_of(platform)
    app = sg.CudaStreamApp(
        platform=platform, verbose=verbose, use_default_stream=use_default_stream
    )
    source1 = CuPySourceOp(xp, app.source1, rows, cols)
    source2 = CuPySourceOp(xp, app.source2, rows, cols)
    process = CuPyProcessOp(xp, app.in1, app.in2, app.processed)
    results = []
    with app.spawn() as running:
        for _ in range(count):
            for operator in (source1, source2, process):
                operator.compute()
            results.append(app.printed.take()["tensor"].numpy())
        running.finish()
        report = running.join()
    return results, report


if __name__ == "__main__":
    for on_default in (False, True):
        sums, report = main(sg.default_platform(), use_default_stream=on_default)
        print("on the default stream:" if on_default else "on streams of the pool:", sums[-1][:3])
        print(report)
