//! The limits of a launch: those of all CUDA devices since compute capability 3.0 (CUDA C++ Programming Guide,
//! *Technical specifications per compute capability*).

use crate::driver::{Launch, MAX_PARAMS};

/// Threads per block.
pub(super) const THREADS: u32 = 1024;
/// Threads per block in x, y and z.
const BLOCK: [u32; 3] = [1024, 1024, 64];
/// Blocks in x, y and z.
const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Bytes of shared memory per block: the most of any device, with a raised limit (9.0 and 10.0).
const SHARED: u32 = 227 << 10;

/// The limit that a launch exceeds, as text; CUDA would refuse it as an invalid value.
pub(super) fn exceeded(launch: &Launch<'_>) -> Option<String> {
    let Launch { name, grid, block, shared_bytes, params, .. } = launch;
    if grid.iter().zip(GRID).any(|(blocks, most)| *blocks == 0 || *blocks > most) {
        return Some(format!("kernel `{name}`: a grid of {grid:?} is not within 1 to {GRID:?}"));
    }
    let threads = block.iter().map(|threads| u64::from(*threads)).product::<u64>();
    if block.iter().zip(BLOCK).any(|(threads, most)| *threads == 0 || *threads > most)
        || threads > u64::from(THREADS)
    {
        return Some(format!(
            "kernel `{name}`: a block of {block:?} is not within 1 to {BLOCK:?}, \
             {THREADS} threads in all"
        ));
    }
    if *shared_bytes > SHARED {
        return Some(format!(
            "kernel `{name}`: {shared_bytes} bytes of shared memory are more than {SHARED}"
        ));
    }
    if params.len() > MAX_PARAMS {
        return Some(format!(
            "kernel `{name}`: {} parameters are more than {MAX_PARAMS}",
            params.len()
        ));
    }
    None
}
