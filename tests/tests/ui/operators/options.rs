use streamflow::prelude::*;

#[operator(stream(fill), 3, no_new = true, device = 1)]
pub struct A {
    #[input]
    x: &u64,
}

#[operator(streams = 2, streams(fill))]
pub struct B {
    #[input]
    x: &u64,
}

#[operator(streams(fill, fill, x, "copy", __own), no_new, no_new)]
pub struct C {
    #[input]
    x: &u64,
}

#[operator(streams())]
pub struct D {
    #[input]
    x: &u64,
}

fn main() {}
