//! A parameter with the name of another one's setter.

use streamflow::prelude::*;

#[operator]
struct Cfar {
    #[input]
    frame: u64,
    #[param]
    gain: f32,
    #[param]
    set_gain: bool,
}

impl Compute for Cfar {
    fn compute(&mut self, io: CfarIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        Ok(())
    }
}

fn main() {}
