// State that borrows what has no size: no port was meant.
use streamflow::prelude::*;

#[operator]
pub struct Label {
    #[output]
    number: u64,
    name: &str,
    weights: &[f32],
}

impl Compute for Label {
    fn compute(&mut self, io: LabelIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.emit((self.name.len() + self.weights.len()) as u64)
    }
}

fn main() {}
