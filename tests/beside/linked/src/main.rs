//! A program that is linked with `libcuda`, since it turns cudarc's feature `dynamic-linking` on.

#[path = "../../ramp.rs"]
mod ramp;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = cudarc::driver::CudaContext::new(0);
    println!("cudarc: {:?}", context.map(|_| "a context").map_err(|error| error.0));
    println!("streamflow: {}", ramp::compute()?);
    let mapped = ramp::mapped();
    println!("libcuda: {mapped:?}");
    assert_eq!(mapped.len(), 1, "the process has one copy of the library");
    Ok(())
}
