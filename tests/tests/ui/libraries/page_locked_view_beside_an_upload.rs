// A view of page-locked memory is written after an upload of the memory was queued.
use streamflow::memory::PinnedSlice;
use streamflow::prelude::*;

fn change(
    stream: &CudaStream,
    frame: &mut PinnedSlice<f32>,
    image: &mut Tensor<f32>,
) -> Result<(), Error> {
    let mut pixels = frame.array_mut_blocking([2, 3])?;
    stream.upload(frame, image)?;
    pixels.fill(0.0);
    Ok(())
}

fn main() {}
