// A branch without an edge.
use streamflow::prelude::*;

#[operator]
struct Numbers {
    #[output]
    n: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

#[operator]
struct Route {
    #[input]
    n: &u64,
    #[output(branch)]
    large: u64,
    #[output(branch)]
    small: u64,
}

impl Compute for Route {
    fn compute(&mut self, io: RouteIo<'_>, _: &ExecutionContext) -> Result<()> {
        match *io.n.receive().into_data() {
            n if n > 100 => io.branch.large().emit(n),
            n => io.branch.small().emit(n),
        }
    }
}

#[operator]
struct Sink {
    #[input]
    n: &u64,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.n.discard();
        Ok(())
    }
}

graph! {
    struct Routes {
        #[when(count(10))]
        let numbers: Numbers = Numbers::new();
        let route: Route = Route::new();
        let sink: Sink = Sink::new();
        numbers.n >> route.n;
        route.large >> sink.n;
    }
}

fn main() {}
