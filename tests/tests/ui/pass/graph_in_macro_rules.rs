// A graph in the expansion of a user's macro: names, types and values come from both sides.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

macro_rules! camera_graph {
    ($(#[$attribute:meta])* $name:ident, $camera:ident: $ty:ty, $len:expr) => {
        graph! {
            $(#[$attribute])*
            pub struct $name(count: u64) {
                const GPU: CudaStreamPool = CudaStreamPool::new();

                #[streams(GPU)]
                #[when(count(count))]
                let $camera: $ty = <$ty>::new($len, 1);
                let cast: Cast = Cast::new();
                #[streams(GPU)]
                #[when(stream_done(image))]
                let show: Show = Show::new(Vec::new());

                $camera.frame >> cast.src;
                cast.dst >> show.image;
            }
        }
    };
}

camera_graph!(
    /// One camera.
    #[allow(dead_code)]
    One, eye: Camera, 4
);
camera_graph!(Two, cast_of_two: Camera, 2 + 2);

macro_rules! chain {
    ($name:ident { $first:ident, $($node:ident),* } $($from:ident >> $to:ident),* => $last:ident) => {
        graph! {
            pub struct $name {
                #[when(count(1))]
                let camera: Camera = Camera::new(4, 3);
                let $first: Cast = Cast::new();
                $(let $node: streamflow_tests::stereo::Invert = streamflow_tests::stereo::Invert::new();)*
                let show: Show = Show::new(Vec::new());

                camera.frame >> $first.src;
                $($from.dst >> $to.src;)*
                $last.dst >> show.image;
            }
        }
    };
}

chain!(Chain { first, a, b, c } first >> a, a >> b, b >> c => c);

fn main() -> Result<()> {
    let platform = Platform::host().build()?;
    let mut one = One::new(&platform, 2)?;
    one.run()?;
    assert_eq!(one.show().seen().len(), 2);
    assert_eq!(one.eye_mut() as *mut _ as usize, one.eye() as *const _ as usize);
    Two::new(&platform, 1)?.run()?;
    let mut chain = Chain::new(&platform)?;
    chain.run()?;
    assert_eq!(chain.show().seen(), [(-3.0, None)]);
    Ok(())
}
