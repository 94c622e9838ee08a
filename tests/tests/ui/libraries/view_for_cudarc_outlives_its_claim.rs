// A view for cudarc is kept for work after its claim.
use std::sync::Arc;

use streamflow::cudarc::driver::CudaStream as Theirs;
use streamflow::prelude::*;

fn copy(stream: &CudaStream, image: &Tensor<f32>, theirs: &Arc<Theirs>) -> Result<(), Error> {
    let mut kept = None;
    stream.read_cudarc(image, theirs, |view| kept = Some(view))
}

fn main() {}
