use streamflow::prelude::*;

pub struct Source;

impl Compute for Source {
    fn compute(&mut self, _: Self::Io<'_>, _: &ExecutionContext) -> Result<()> {
        Ok(())
    }
}

fn main() {}
