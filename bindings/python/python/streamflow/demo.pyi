"""A demo, and its graph."""

from streamflow import Graph, Input, Output, Platform

class Scale(Graph):
    """Multiplies each float32 tensor of `x`, of any shape, by `factor`, and sends it to `y`."""

    factor: float
    def __new__(
        cls,
        *,
        factor: float = 2.0,
        platform: Platform | None = None,
        use_default_stream: bool = False,
    ) -> Scale: ...
    @property
    def x(self) -> Input: ...
    @property
    def y(self) -> Output: ...

def main() -> int: ...
