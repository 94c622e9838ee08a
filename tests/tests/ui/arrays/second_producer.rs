// Two edges lead to the input of one element.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// An application.
    pub struct App {
        let cameras: [Camera; 3] = |i| Camera::new(10, i as u8);
        let casts: [Cast; 3] = |_| Cast::new();
        let more: Camera = Camera::new(10, 9);
        for i in 0..3 {
            cameras[i].frame >> casts[i].src;
            casts[i].dst >> _;
        }
        more.frame >> casts[1].src;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
