// The values of a dropped download.
use streamflow::prelude::*;

fn values<'a>(
    platform: &Platform,
    tensor: &Tensor<f32>,
    stream: &CudaStream,
) -> Result<&'a [f32], Error> {
    let download = platform.download(tensor, stream)?;
    download.wait_blocking()
}

fn main() {}
