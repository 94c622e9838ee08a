// The option `stays` with arguments, twice, and in another spelling.
use streamflow::prelude::*;

#[operator(stays(main))]
pub struct A {
    #[input]
    x: &u64,
}

#[operator(stays = true)]
pub struct B {
    #[input]
    x: &u64,
}

#[operator(stays, no_new, stays)]
pub struct C {
    #[input]
    x: &u64,
}

#[operator(stay)]
pub struct D {
    #[input]
    x: &u64,
}

fn main() {}
