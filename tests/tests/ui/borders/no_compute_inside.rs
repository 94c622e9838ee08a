// The operator inside has no `compute`.
use streamflow::prelude::*;

/// Does nothing.
#[operator]
struct Idle {
    #[input]
    number: &u64,
}

graph! {
    /// A graph with ports.
    pub struct Part {
        input number: &u64;
        let idle: Idle = Idle::new();
        number >> idle.number;
    }
}

fn main() {}
