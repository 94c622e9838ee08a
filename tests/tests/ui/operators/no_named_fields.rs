use streamflow::prelude::*;

#[operator]
pub struct Empty {}

#[operator]
pub struct Unit;

#[operator]
pub struct Tuple(u32);

#[operator]
pub struct StateAlone {
    rows: usize,
}

fn main() {
    let _ = (Empty::new(), Unit::new(), Tuple(1), StateAlone::new(3));
}
