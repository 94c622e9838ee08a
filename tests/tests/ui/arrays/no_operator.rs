// The elements are no operators.
use streamflow::prelude::*;

/// No operator.
struct Plain;

graph! {
    /// An application.
    pub struct App {
        let plains: [Plain; 3] = |_| Plain;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
