// A tensor is read while cudarc has a view that it writes.
use std::sync::Arc;

use streamflow::cudarc::driver::CudaStream as Theirs;
use streamflow::prelude::*;

fn clear(stream: &CudaStream, image: &mut Tensor<f32>, theirs: &Arc<Theirs>) -> Result<(), Error> {
    stream.write_cudarc(image, theirs, |mut view| {
        let queued = theirs.memset_zeros(&mut view);
        let before = stream.download(image);
        (queued, before)
    })?;
    Ok(())
}

fn main() {}
