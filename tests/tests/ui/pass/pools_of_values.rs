// Pools that are made from the parameters of a graph, in the forms that an expression may have.
#![allow(non_snake_case)]
use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_tests::stereo::{Camera, Cast, Show};

fn from_file(text: &str) -> Result<CudaStreamPool> {
    Ok(CudaStreamPool::new().max_size(text.trim().parse()?))
}

graph! {
    #[green_contexts(GREEN)]
    pub struct Pools(gpu: u32, streams: u32, sizes: Vec<u32>, file: String, use_default_stream: bool, __GREEN: usize) {
        const BASE: CudaStreamPool = CudaStreamPool::new().reserved_size(1);
        /// The partitions.
        let GREEN = CudaGreenContextPool::new().device(device(gpu)).sms_per_partition(&sizes);
        /// The pool.
        #[allow(non_snake_case)]
        let STREAMS = streamflow::CudaStreamPool::new().device(device(gpu)).max_size(streams);
        let small: CudaStreamPool = if use_default_stream { BASE.use_default_stream(true) } else { from_file(&file)? };

        #[streams(STREAMS)] #[when(count(2))] #[on_failure(restart(3, 1ms))]
        let camera: Camera = Camera::new(STREAMS.get_max_size().unwrap_or(1) as usize, 1);
        #[streams(small)]
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::with_capacity(__GREEN));

        #[transfer] camera.frame >> cast.src;
        #[transfer] cast.dst >> show.image;
    }
}

graph! {
    pub struct One(streams: u32) {
        let STREAMS = CudaStreamPool::new().max_size(streams);
        #[streams(STREAMS)] #[when(count(2))]
        let camera: Camera = Camera::new(1, 1);
        #[streams(STREAMS)]
        let cast: Cast = Cast::new();
        #[streams(STREAMS)]
        let show: Show = Show::new(Vec::new());
        camera.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn main() {}
