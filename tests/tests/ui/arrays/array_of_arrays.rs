// An array is no element of an array.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    /// An application.
    pub struct App {
        let first: Camera = Camera::new(10, 0);
        first.frame >> _;
        let cameras: [[Camera; 2]; 3] = |_| Camera::new(10, 0);
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
