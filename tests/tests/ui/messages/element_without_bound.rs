// A generic message whose tensor has a type parameter without the bound `Element`. The rest of the program is right.
use streamflow::prelude::*;

#[derive(Message)]
pub struct Image<T> {
    pixels: Tensor<T>,
    frame: u64,
}

#[operator]
pub struct Show {
    #[input]
    image: &Image<f32>,
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        println!("{} {}", image.frame, image.pixels.len());
        Ok(())
    }
}

fn main() {}
