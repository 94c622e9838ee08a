// Ranges and sizes that would leave more than themselves.
use streamflow::prelude::*;

#[operator]
pub struct Gain {
    #[input(size = if LARGE { 3 } else { return 2 })]
    returned: u64,
    #[input(size = #[cfg(any())] 2)]
    marked: u64,
    #[param(range = 0..=if LARGE { 9 } else { return 5 })]
    gain: u64,
    #[param(range = if LARGE { 0 } else { break }..=9)]
    offset: u64,
    #[param(range = #[cfg(any())] 0..=9)]
    weight: u64,
}

const LARGE: bool = false;

impl Compute for Gain {
    fn compute(&mut self, io: GainIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.returned.discard();
        io.marked.discard();
        Ok(())
    }
}

fn main() {}
