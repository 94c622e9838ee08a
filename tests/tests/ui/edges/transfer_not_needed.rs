// A transfer between operators on one device, of host data, and of data that can't be copied.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Show};

graph! {
    pub struct OneDevice {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        const ALSO_FAR: CudaStreamPool = FAR.max_size(4);

        #[streams(FAR)]
        let camera: Camera = Camera::new(1, 1);
        #[streams(ALSO_FAR)]
        let cast: Cast = Cast::new();
        let near: Camera = Camera::new(1, 1);
        let near_cast: Cast = Cast::new();
        #[transfer]
        camera.frame >> cast.src;
        cast.dst >> _;
        #[transfer]
        near.frame >> near_cast.src;
        near_cast.dst >> _;
    }
}

graph! {
    pub struct HostDataGoesAnyway {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        let camera: Camera = Camera::new(1, 1);
        #[streams(FAR)]
        let cast: Cast = Cast::new();
        let counter: Counter = Counter::new();
        #[streams(FAR)]
        let show: Show = Show::new(Vec::new());
        #[transfer]
        camera.frame >> cast.src;
        cast.dst >> show.image;
        #[transfer]
        counter.number >> show.label;
    }
}

fn main() {}
