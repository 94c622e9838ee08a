// The constant is the length of the array.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

const CAMERAS: usize = 3;

graph! {
    /// An application.
    pub struct App {
        let cameras: [Camera; CAMERAS] = |i| Camera::new(10, i as u8);
        for i in 0..CAMERAS - 1 {
            cameras[i].frame >> _;
        }
        cameras[CAMERAS].frame >> _;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
