// `#[operator(flush)]` without `impl Flush`, in a whole program.
use streamflow::prelude::*;

#[operator(flush)]
pub struct Hold {
    #[input]
    n: u64,
    #[output]
    sum: u64,
    held: u64,
}

impl Compute for Hold {
    fn compute(&mut self, io: HoldIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.held += io.n.receive().into_data();
        io.sum.emit(self.held)
    }
}

#[operator]
pub struct Source {
    #[output]
    n: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

graph! {
    struct Sums {
        #[when(count(10))]
        let source: Source = Source::new();
        let hold: Hold = Hold::new(0);
        source.n >> hold.n;
        hold.sum >> _;
    }
}

fn main() -> Result<()> {
    Sums::new(&Platform::detect()?)?.run()?;
    Ok(())
}
