// A generic operator for another type than its input's message.
use streamflow::prelude::*;
use streamflow_tests::operators::Pass;
use streamflow_tests::stereo::{Camera, Cast, Counter};

graph! {
    pub struct Wrong {
        let counter: Counter = Counter::new();
        let camera: Camera = Camera::new(480, 1);
        let cast: Cast = Cast::new();
        let pass: Pass<u64, f64> = Pass::by_hand();

        counter.number >> pass.one;
        camera.frame >> cast.src;
        cast.dst >> pass.other;
        pass.out >> _;
        pass.len >> _;
    }
}

fn main() {}
