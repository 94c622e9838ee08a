// The graph's own constructor, with too few arguments, and by value.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct App(len: usize, first: u8) {
        let camera: Camera = Camera::new(len, first);
        camera.frame >> _;
    }
}

fn main() -> Result<()> {
    let platform = Platform::detect()?;
    App::new(&platform, 3)?.run()?;
    App::new(platform, 3, 4)?.run()?;
    Ok(())
}
