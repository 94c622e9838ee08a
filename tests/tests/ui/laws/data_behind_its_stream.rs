use streamflow::prelude::*;

#[operator]
pub struct Sink {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive().into_data();
        println!("{}", image.rows());
        Ok(())
    }
}

fn main() {}
