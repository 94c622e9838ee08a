// An operator without `compute`.
use streamflow::prelude::*;

#[operator]
pub struct Idle {
    #[output]
    frame: Tensor<u8>,
}

graph! {
    pub struct Wrong {
        let idle: Idle = Idle::new();
        idle.frame >> _;
    }
}

fn main() {}
