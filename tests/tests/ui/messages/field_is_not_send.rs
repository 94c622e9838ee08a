use std::rc::Rc;

use streamflow::prelude::*;

#[derive(Message)]
pub struct Frame {
    pub image: Tensor<f32>,
    pub camera: Rc<u32>,
}

fn main() {}
