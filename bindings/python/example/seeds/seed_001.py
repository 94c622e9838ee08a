"""Seed 001: the stream calls of Holoscan's user guide, each beside the call of this module that has its place.

`compute_…` are the bodies of the guide's operators. `port` is an input or an output of a graph.
"""

import seed_graphs as sg
from library import on


def compute_receive(xp, received, emitted):
    """`in_message = op_input.receive("receiver")`, and then
    `cuda_stream_ptr = op_input.receive_cuda_stream("receiver", allocate=True, sync_to_default=False)`."""
    in_message = received.take()
    with on(xp, received.stream):
        # Work that is queued on this stream comes after the message. The stream has this order only after `take`.
        out = xp.from_dlpack(in_message) + 1
    emitted.push(dict(tensor=out))


def compute_receivers(xp, receivers, emitted):
    """`tensors = op_input.receive("receivers")` and `op_input.receive_cuda_streams("receivers")`, of a port with several
    messages, and `context.synchronize_streams(streams, target)`."""
    tensors = [port.take() for port in receivers]
    cuda_streams = [port.stream for port in receivers]
    target = emitted.stream
    for stream in cuda_streams:
        target.wait(stream)
    with on(xp, target):
        out = sum(xp.from_dlpack(tensor) for tensor in tensors)
    emitted.push(dict(tensor=out))


def compute_extra_stream(xp, received, emitted, my_stream):
    """`my_stream = context.allocate_cuda_stream("my_stream")` and `op_output.set_cuda_stream(my_stream, "out")`."""
    in_message = received.take()
    with on(xp, my_stream):
        # The library's current stream waits for the tensor, whichever stream the tensor is on.
        out = xp.from_dlpack(in_message) * 3
    # The message is emitted on the port's stream, which first waits for `my_stream`.
    emitted.stream.wait(my_stream)
    emitted.push(dict(tensor=out))


def device_from_stream(stream):
    """`context.device_from_stream(stream)`, for any stream of this module."""
    return stream.device


def allocate_cuda_stream(platform):
    """A stream beside those of the ports."""
    return sg.Stream(platform)
