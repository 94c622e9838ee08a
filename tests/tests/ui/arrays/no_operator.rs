// The elements are no operators.
use streamflow::prelude::*;

/// No operator.
struct Unmarked;

graph! {
    /// An application.
    pub struct App {
        let plains: [Unmarked; 3] = |_| Unmarked;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
