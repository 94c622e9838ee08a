use streamflow::prelude::*;

fn of(cx: &ExecutionContext) -> Result<Stream<'static>, Error> {
    cx.default_stream()
}

fn main() {
    let _ = of;
}
