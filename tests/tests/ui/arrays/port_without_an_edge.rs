// No edge leads to an input of the elements.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse};

graph! {
    /// An application.
    pub struct App {
        let cameras: [Camera; 3] = |i| Camera::new(10, i as u8);
        let fuses: [Fuse; 3] = |_| Fuse::new();
        let casts: [Cast; 3] = |_| Cast::new();
        for i in 0..3 {
            cameras[i].frame >> casts[i].src;
            casts[i].dst >> fuses[i].left;
            fuses[i].depth >> _;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
