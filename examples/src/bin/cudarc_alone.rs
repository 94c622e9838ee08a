//! A program of cudarc alone: data of one stream, and a kernel on another. `beside_cudarc` is the same program with a
//! kernel of streamflow. Both programs need a GPU.
//!
//! `cargo run -p streamflow-examples --features all --bin cudarc_alone`

use std::error::Error;
use std::io::Write;

use streamflow::cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use streamflow::cudarc::nvrtc::compile_ptx;

const SCALE: &str = r#"
extern "C" __global__ void scale(float* data, unsigned long long len, float factor) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < len) data[i] *= factor;
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let (theirs, stream) = (context.new_stream()?, context.new_stream()?);
    let mut slice = theirs.clone_htod(&[1.0_f32, 2.0, 3.0])?;

    let scale = context.load_module(compile_ptx(SCALE)?)?.load_function("scale")?;
    let (len, factor) = (slice.len() as u64, 2.0_f32);
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut slice).arg(&len).arg(&factor);
    // SAFETY: the arguments have the types and the order of the kernel's text.
    unsafe { launch.launch(LaunchConfig::for_num_elems(3)) }?;
    Ok(writeln!(std::io::stdout(), "{:?}", theirs.clone_dtoh(&slice)?)?)
}
