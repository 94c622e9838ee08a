//! A program of candle with its CUDA kernels, and of streamflow.

#[path = "../../ramp.rs"]
mod ramp;

use candle_core::{Device, Tensor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = match Device::new_cuda_with_stream(0) {
        Ok(device) => device,
        Err(error) => {
            println!("candle: {error}");
            Device::Cpu
        }
    };
    let (a, b) = (Tensor::new(&[1_f32, 2.0], &device)?, Tensor::new(&[3_f32, 4.0], &device)?);
    assert_eq!((&a + &b)?.to_vec1::<f32>()?, [4.0, 6.0]);
    println!("streamflow: {}", ramp::compute()?);
    let mapped = ramp::mapped();
    println!("libcuda: {mapped:?}");
    assert_eq!(mapped.len(), 1, "the process has one copy of the library");
    Ok(())
}
