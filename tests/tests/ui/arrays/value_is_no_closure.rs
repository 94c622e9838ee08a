// The value of an array is an operator.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    /// An application.
    pub struct App {
        let first: Camera = Camera::new(10, 0);
        first.frame >> _;
        let cameras: [Camera; 3] = Camera::new(10, 0);
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
