//! A program with a graph that has parameters, which is made directly: its checks are made when the program is built.
use streamflow::prelude::*;
use streamflow::testing::GraphHarness;

operator_interface! {
    /// A source of numbers.
    pub trait Source {
        output n: u64;
    }
}

/// A source of the numbers of its ticks.
#[operator(implements(Source))]
pub struct Count {
    #[output]
    n: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

/// Sums numbers.
#[operator]
pub struct Sum {
    #[input(many)]
    numbers: &u64,
    sum: u64,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sum += io.numbers.receive().into_data().sum::<u64>();
        Ok(())
    }
}

graph! {
    /// A source that is a graph.
    #[implements(Source)]
    pub struct Part {
        output n: u64;
        let count: Count = Count::new();
        count.n >> n;
    }
}

graph! {
    /// Sums the numbers of `N` sources.
    pub struct Total<S: Source, const N: usize>(source: fn() -> New<S>) {
        let sources: [S; N] = |_| source();
        let sum: Sum = Sum::new(0);
        for i in 0..N {
            sources[i].n >> sum.numbers;
        }
    }
}

graph! {
    /// The first of three sources.
    pub struct Few<const N: usize> {
        output n: u64;
        let counts: [Count; 3] = |_| Count::new();
        for i in 1..N {
            counts[i].n >> _;
        }
        counts[0].n >> n;
    }
}

fn main() -> Result<()> {
    let mut few = GraphHarness::new(&Platform::detect()?, Few::<3>::new())?;
    few.tick()?;
    let mut total = Total::<Count, 3>::new(&Platform::detect()?, || Count::new())?;
    total.run_for(2)?;
    Ok(())
}
