// A graph in a generic function, with the function's type parameter.
use streamflow::prelude::*;
use streamflow_tests::operators::Pass;

fn run<T: Element>(platform: &Platform) -> Result<()> {
    graph! {
        struct App {
            let pass: Pass<T, f32> = Pass::by_hand();

            pass.out >> _;
        }
    }
    App::new(platform)?.run()?;
    Ok(())
}

fn main() -> Result<()> {
    run::<f32>(&Platform::detect()?)
}
