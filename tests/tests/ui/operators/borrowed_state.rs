// State that borrows an unsized type; it is not meant as a port.
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
