// Device data between operators on different devices; host data may go there.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Invert, Show};

graph! {
    pub struct Devices {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        const ALSO_NEAR: CudaStreamPool = CudaStreamPool::new().max_size(2);
        const FAR: CudaStreamPool = NEAR.device(device(1));

        #[streams(FAR)]
        let left: Camera = Camera::new(1, 1);
        let counter: Counter = Counter::new();
        #[streams(FAR)]
        let cast: Cast = Cast::new();
        #[streams(NEAR)]
        let show: Show = Show::new(Vec::new());
        let unnamed: Show = Show::new(Vec::new());
        #[streams(ALSO_NEAR)]
        let again: Cast = Cast::new();
        #[streams(ALSO_NEAR)]
        let invert: Invert = Invert::new();
        #[streams(none)]
        let adopting: Show = Show::new(Vec::new());
        #[streams(NEAR)]
        let same_device: Show = Show::new(Vec::new());

        left.frame >> (cast.src, again.src);
        cast.dst >> (show.image, unnamed.image, adopting.image);
        counter.number >> show.label;
        again.dst >> same_device.image;
        #[copy]
        cast.dst >> invert.src;
        invert.dst >> _;
    }
}

fn main() {}
