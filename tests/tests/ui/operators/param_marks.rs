//! Parameters that are ports, are marked twice, or have unknown marks and options.

use streamflow::prelude::*;

#[operator]
struct Cfar {
    #[input]
    #[param]
    image: &Tensor<f32>,
    #[param(range = 0..4)]
    #[output]
    count: u64,
    #[param]
    #[param(range = 0.0..=1.0)]
    threshold: f32,
    #[parm]
    guard: u32,
    #[param(rang = 1..9)]
    training: u32,
    #[param(range = 1..9, range = 2..8)]
    twice: u32,
    #[param = 3]
    value: u32,
    #[param(1..9)]
    without_name: u32,
}

impl Compute for Cfar {
    fn compute(&mut self, io: CfarIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.image.discard();
        io.count.emit(u64::from(self.guard + self.training + self.twice + self.value))
    }
}

fn main() {}
