// `#[message(…)]` where it has no effect: at fields, at a variant, and with an unknown option.
use streamflow::prelude::*;

#[derive(Message)]
struct Detections {
    boxes: Tensor<f32>,
    #[message(skip)]
    frame: u64,
    #[message(name = "taken")]
    taken_at: u64,
}

#[derive(Message)]
enum Image<T: Element> {
    Tensor(#[message(device)] Tensor<T>),
    #[message(default)]
    End,
}

#[derive(Message)]
#[message(rename = "Boxes")]
struct Named {
    boxes: u64,
}

fn main() {}
