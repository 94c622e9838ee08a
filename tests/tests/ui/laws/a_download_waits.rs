use streamflow::prelude::*;

fn first<'a>(
    platform: &Platform,
    image: &Tensor<f32>,
    stream: &CudaStream,
) -> Result<&'a [f32], Error> {
    let download = platform.download(image, stream)?;
    download.wait_blocking()
}

fn main() {}
