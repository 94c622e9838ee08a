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

// Nothing is said of these: they have what an operator has.
impl Compute for Either {
    fn compute(&mut self, _: EitherIo<'_>, _: &ExecutionContext) -> Result<()> {
        Ok(())
    }
}

fn main() {}
