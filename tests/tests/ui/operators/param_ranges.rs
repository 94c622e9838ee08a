//! Ranges that are none, are empty, or limit nothing.

use streamflow::prelude::*;

const LIMIT: f32 = 1.0;

#[operator]
struct Cfar {
    #[input]
    frame: u64,
    #[param(range = LIMIT)]
    no_range: f32,
    #[param(range = ..)]
    unlimited: f32,
    #[param(range = 1.0..=0.0)]
    reversed: f32,
    #[param(range = -3..-3)]
    empty: i32,
    #[param(range)]
    nothing: i32,
    #[param(range = 0..=)]
    without_end: i32,
}

impl Compute for Cfar {
    fn compute(&mut self, io: CfarIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        Ok(())
    }
}

fn main() {}
