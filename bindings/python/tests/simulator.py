"""The functions that make tensors, on a simulator: also where the default platform is a GPU."""

import functools

import streamflow as sf

PLATFORM = sf.Platform("host")


def _here(function):
    @functools.wraps(function)
    def call(*arguments, **named):
        # A wrong argument is passed on, too, so that tests can check its error.
        named.setdefault("stream", sf.Stream(PLATFORM))
        return function(*arguments, **named)

    return call


empty, zeros, from_dlpack, as_tensor = map(_here, (sf.empty, sf.zeros, sf.from_dlpack, sf.as_tensor))
