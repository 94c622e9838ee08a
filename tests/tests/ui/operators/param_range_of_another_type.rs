//! A range whose ends have another type than the parameter.

use streamflow::prelude::*;

#[operator]
struct Cfar {
    #[input]
    frame: u64,
    #[param(range = 0..=1)]
    threshold: f32,
}

impl Compute for Cfar {
    fn compute(&mut self, io: CfarIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        Ok(())
    }
}

fn main() {}
