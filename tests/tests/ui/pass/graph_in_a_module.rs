// A graph in a module that imports only the names that it uses, and a public graph.
mod inner {
    use streamflow_tests::stereo::{Camera, Cast};

    streamflow::graph! {
        #[derive(Debug)]
        pub(crate) struct Quiet {
            #[when(count(1))]
            let camera: Camera = Camera::new(4, 1);
            let cast: Cast = Cast::new();

            camera.frame >> cast.src;
            cast.dst >> _;
        }
    }

    pub mod deeper {
        use super::super::*;

        streamflow::graph! {
            pub struct Open(start: u8) {
                #[when(count(1))]
                let camera: Camera = Camera::new(4, start);

                camera.frame >> _;
            }
        }
    }
}

use streamflow_tests::stereo::Camera;

fn main() -> streamflow::Result<()> {
    let platform = streamflow::Platform::host().build()?;
    inner::Quiet::new(&platform)?.run()?;
    let mut open = inner::deeper::Open::new(&platform, 3)?;
    let _: &mut Camera = open.camera_mut();
    open.run()?;
    Ok(())
}
