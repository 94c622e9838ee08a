// Names that are near those of the code that `graph!` and `#[operator]` write: none of these is proposed.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    pub struct App {
        let counter: Counter = Counter::new();
        counter.number >> _;
    }
}

fn main() -> Result<()> {
    let app = App::new(&Platform::detect()?)?;
    app.replays();
    app.platform.name();
    app.params().param;
    app.counter().make_node();
    Counter::node();
    Counter::IS_OPERATOR;
    Tensor::<f32>::IS;
    Ok(())
}
