use streamflow::prelude::*;

#[operator]
pub struct Thief {
    #[output]
    stream: Stream<'static>,
}

fn main() {}
