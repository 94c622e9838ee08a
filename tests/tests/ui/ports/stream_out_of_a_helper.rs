use streamflow::prelude::*;

fn of(cx: &ExecutionContext) -> Result<Stream<'static>> {
    cx.default_stream()
}

fn main() {
    let _ = of;
}
