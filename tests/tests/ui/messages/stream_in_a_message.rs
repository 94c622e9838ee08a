use streamflow::prelude::*;

#[derive(Message)]
pub struct Parcel {
    pub image: Tensor<f32>,
    pub stream: Stream<'static>,
}

fn main() {}
