// Device data is read as if it were on the host.
use streamflow::prelude::*;

#[operator]
pub struct Peek {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Peek {
    fn compute(&mut self, io: PeekIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        println!("{}", image[0]);
        println!("{:?}", &image[1..3]);
        for x in image.iter() {
            println!("{x}");
        }
        let first: Option<&f32> = image.first();
        let all: Vec<f32> = image.to_vec();
        let slice: &[f32] = image.as_slice();
        println!("{first:?} {all:?} {slice:?}");
        Ok(())
    }
}

fn written(mut image: Tensor<f32>, mut bytes: Buffer<u8>) {
    image[0] = 1.0;
    bytes[0] = 1;
    for x in image.iter_mut() {
        *x = 0.0;
    }
}

fn main() {}
