//! The program `cudarc_alone` with a kernel of streamflow: cudarc hands its data over and gets it back, without a copy.
//! Both programs need a GPU.
//!
//! `cargo run -p streamflow-examples --features all --bin beside_cudarc`

use std::error::Error;
use std::io::Write;

use streamflow::cudarc::driver::CudaContext;
use streamflow::prelude::*;

/// `data[i] *= factor`
#[kernel(map)]
pub fn scale(data: &mut f32, factor: f32) {
    *data *= factor;
}

fn main() -> Result<(), Box<dyn Error>> {
    let platform = Platform::cuda()?;
    let theirs = CudaContext::new(0)?.new_stream()?;
    let slice = theirs.clone_htod(&[1.0_f32, 2.0, 3.0])?;

    let pool = platform.stream_pool("WORK", &CudaStreamPool::new().max_size(1))?;
    let stream = pool.allocate("work")?;
    // The kernel comes after cudarc's copy, and cudarc's next copy after the kernel.
    let mut tensor = platform.adopt_cudarc(slice, [3])?;
    stream.map::<scale>((&mut tensor, 2.0))?;
    let slice = tensor.into_cudarc(&stream, &theirs)?;
    Ok(writeln!(std::io::stdout(), "{:?}", theirs.clone_dtoh(&*slice)?)?)
}
