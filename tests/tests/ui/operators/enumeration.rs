// An operator that is an enum.
use streamflow::prelude::*;

#[operator]
pub enum Blur {
    Box,
    Gauss { radius: f32 },
}

fn main() {}
