use std::rc::Rc;

use streamflow::prelude::*;

#[operator]
pub struct Detect {
    #[output]
    boxes: HostData<Rc<u32>>,
}

fn main() {}
