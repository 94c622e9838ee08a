//! A program of cudarc that hands its data to streamflow and gets it back, without a copy. It needs a GPU.
//!
//! `cargo run -p streamflow-examples --bin beside_cudarc`

use std::error::Error;
use std::io::Write;

use streamflow::cudarc::driver::CudaContext;
use streamflow::prelude::*;

/// data[i] *= factor
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_len) data[i] *= factor;")]
pub fn scale(data: &mut [f32], factor: f32) {
    data.iter_mut().for_each(|x| *x *= factor);
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let platform = match Platform::cuda() {
        Ok(platform) => platform,
        Err(error) => return Ok(writeln!(out, "cudarc has no device: {error}")?),
    };
    let theirs = CudaContext::new(0)?.new_stream()?;
    let slice = theirs.clone_htod(&[1.0_f32, 2.0, 3.0])?;

    let pool = platform.stream_pool("WORK", &CudaStreamPool::new().max_size(1))?;
    let stream = pool.allocate("work")?;
    // The stream comes after the copy of cudarc, and cudarc's stream after the kernel.
    let mut tensor = platform.adopt_cudarc(slice, [3])?;
    stream.launch::<scale>(3, (&mut tensor, 2.0))?;
    let slice = tensor.into_cudarc(&stream, &theirs)?;
    writeln!(out, "{:?}", theirs.clone_dtoh(&*slice)?)?;
    Ok(())
}
