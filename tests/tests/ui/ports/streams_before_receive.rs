use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let streams: Vec<_> = io.image.streams().collect();
        println!("{streams:?}");
        io.image.discard();
        Ok(())
    }
}

fn main() {}
