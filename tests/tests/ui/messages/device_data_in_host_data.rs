// Device data that a type hides, at inputs and outputs, also behind an alias and within a message; two types that are right.
use std::sync::{Arc, Mutex};

use streamflow::prelude::*;

type Image = Tensor<u8>;

#[derive(Message)]
pub struct Boxes {
    boxes: Tensor<f32>,
    frame: u64,
}

#[operator]
pub struct Detect {
    #[input]
    image: Arc<Tensor<f32>>,
    #[input]
    last: &HostData<Arc<Image>>,
    #[input]
    boxes: Shared<HostData<Vec<Option<Boxes>>>>,
    #[input]
    right: Shared<Vec<Boxes>>,
    #[output]
    kept: HostData<Mutex<(u64, Box<Image>)>>,
    #[output]
    also_right: HostData<Vec<Option<Arc<u64>>>>,
}

impl Compute for Detect {
    fn compute(&mut self, io: DetectIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.image.discard();
        println!("{:?}", io.last.receive().into_data());
        io.also_right.emit(HostData(Vec::new()))
    }
}


fn main() {}
