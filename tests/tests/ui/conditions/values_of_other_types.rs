// Values of other types than the conditions need.
use streamflow::operator::BooleanHandle;
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter};

struct Mine;

graph! {
    pub struct Conditions(handle: BooleanHandle, rate: f32) {
        #[when(periodic(rate))]
        let a: Counter = Counter::new();
        #[when(asynchronous(handle))]
        let b: Counter = Counter::new();
        #[when(boolean(true))]
        let c: Counter = Counter::new();
        #[when(condition(Mine))]
        let d: Counter = Counter::new();
        #[when(memory_available(rate, bytes(4)))]
        let camera: Camera = Camera::new(1, 1);
        #[when(message_available(src, rate))]
        let cast: Cast = Cast::new();
        a.number >> _;
        b.number >> _;
        c.number >> _;
        d.number >> _;
        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
