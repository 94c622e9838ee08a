// The graph has the name of its operator.
use streamflow::prelude::*;

#[operator]
pub struct App {
    #[output]
    number: u64,
}

impl Compute for App {
    fn compute(&mut self, io: AppIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    pub struct App {
        let app: App = App::new();
        app.number >> _;
    }
}

fn main() {}
