//! A node whose inputs are all optional, of which none is connected, would never run.

use streamflow::prelude::*;

#[operator]
pub struct Lonely {
    #[input(optional)]
    number: u64,
}

impl Compute for Lonely {
    fn compute(&mut self, io: LonelyIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    pub struct Alone() {
        #[when(count(3))]
        let lonely: Lonely = Lonely::new();
    }
}

fn main() {}
