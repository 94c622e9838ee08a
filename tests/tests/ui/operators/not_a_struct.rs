use streamflow::prelude::*;

#[operator]
pub enum Either {
    Left(f32),
}

#[operator]
pub union Both {
    left: f32,
    right: u32,
}

// These are right: they have all that an operator needs.
impl Compute for Either {
    fn compute(&mut self, _: EitherIo<'_>, _: &ExecutionContext) -> Result<()> {
        Ok(())
    }
}

fn main() {}
