//! A kernel of streamflow in a program of other crates, and the files of `libcuda` that the process
//! has loaded.

use streamflow::prelude::*;

/// out[i] = start + i * step
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = start + step * i;")]
fn ramp(out: &mut [f32], start: f32, step: f32) {
    for (i, x) in out.iter_mut().enumerate() {
        *x = start + step * i as f32;
    }
}

/// Computes on the platform that is found: on a GPU, or else on the simulator. Returns its name.
pub fn compute() -> Result<String> {
    let platform = Platform::detect()?;
    let pool = platform.stream_pool("RAMP", &CudaStreamPool::new().max_size(1))?;
    let stream = pool.allocate("ramp")?;
    let mut values = platform.tensor::<f32>([4], &stream)?;
    stream.launch::<ramp>(4, (&mut values, 1.0, 0.5))?;
    let values = platform.download(&values, &stream)?.wait_blocking()?.to_vec();
    assert_eq!(values, [1.0, 1.5, 2.0, 2.5]);
    Ok(platform.name().to_owned())
}

/// Returns the files of the process with names that begin with `libcuda.so`: one, unless a second copy
/// was loaded.
pub fn mapped() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
    let files = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let mut files: Vec<_> =
        files.filter(|file| file.contains("/libcuda.so")).map(str::to_owned).collect();
    files.dedup();
    files
}
