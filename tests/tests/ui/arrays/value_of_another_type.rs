// The closure makes another operator.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// An application.
    pub struct App {
        let cameras: [Camera; 3] = |_| Cast::new();
        for i in 0..3 {
            cameras[i].frame >> _;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
