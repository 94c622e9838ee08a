// Options in `#[input(…)]`.
use streamflow::prelude::*;

#[operator]
pub struct Options {
    #[input(many, size = 2)]
    a: &u64,
    #[input(size)]
    b: &u64,
    #[input(size = 0)]
    c: &u64,
    #[input(optional, size = 2)]
    d: &u64,
    #[input(manny)]
    e: &u64,
    #[input(size = 2 3)]
    f: &u64,
    #[input(any_size)]
    g: &u64,
}

fn main() {}
