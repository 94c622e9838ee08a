// An input with a size has that number of producers, and an input without a size has one.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter};

#[operator]
pub struct Three {
    #[input(size = 3)]
    numbers: u64,
}

impl Compute for Three {
    fn compute(&mut self, io: ThreeIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.numbers.discard();
        Ok(())
    }
}

#[operator]
pub struct Many {
    #[input(many)]
    numbers: u64,
}

impl Compute for Many {
    fn compute(&mut self, io: ManyIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.numbers.discard();
        Ok(())
    }
}

graph! {
    pub struct Sizes {
        let a: Counter = Counter::new();
        let b: Counter = Counter::new();
        let three: Three = Three::new();
        a.number >> three.numbers;
        b.number >> three.numbers;
        let nobody: Many = Many::new();
        let one: Camera = Camera::new(1, 1);
        let other: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        one.frame >> cast.src;
        other.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
