//! Launches, and their limits (CUDA C++ Programming Guide, *Technical specifications per compute capability*). Only the
//! limit of shared memory depends on the architecture.

use std::fmt;

use super::HostDriver;
use super::queue::{Op, Takes, Touch};
use super::refusal::{invalid_handle, invalid_value};
use super::sim::Sim;
use crate::driver::{Access, DriverResult, Launch, LibraryCall, MAX_PARAMS, RawStream};

/// The most threads per block.
pub(super) const THREADS: u32 = 1024;
/// The most threads of a block in x, y and z.
const BLOCK: [u32; 3] = [1024, 1024, 64];
/// The most blocks of a grid in x, y and z.
const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// The most bytes of shared memory per block, static and dynamic together, for a compute capability. A kernel must opt in to
/// more than 48 KiB. The CUDA driver of this library opts in for each launch that needs it.
const fn shared_bytes(compute_capability: (u32, u32)) -> u32 {
    let kibibytes = match compute_capability {
        (7, 0 | 2) => 96,
        (7, 5) => 64,
        (8, 0 | 7) => 163,
        (8, 6 | 9) | (12, _) => 99,
        (9..=11, _) => 227,
        _ => 48,
    };
    kibibytes << 10
}

/// Returns the limit that a launch exceeds, as text for an error; CUDA would refuse the launch as an invalid value.
fn exceeded(launch: &Launch<'_>, most_shared: u32) -> Option<String> {
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
    if *shared_bytes > most_shared {
        return Some(format!(
            "kernel `{name}`: {shared_bytes} bytes of shared memory are more than this device's {most_shared}"
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

impl HostDriver {
    /// The most bytes of shared memory that a block may have.
    pub(super) const fn max_shared_bytes(&self) -> u32 {
        shared_bytes(self.compute_capability)
    }

    /// Implements [`Driver::launch`](crate::driver::Driver::launch).
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn submit_launch(
        &self,
        stream: RawStream,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        const CALL: &str = "launch";
        if let Some(message) = exceeded(launch, self.max_shared_bytes()) {
            return Err(invalid_value(CALL, stream.device(), &message));
        }
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        let function = sim.function(launch.function, CALL)?;
        if launch.function.device() != stream.device() {
            let message = "the kernel was loaded for another device";
            return Err(invalid_handle(CALL, stream.device(), message));
        }
        sim.check_accesses(
            CALL,
            stream,
            launch.accesses,
            &format_args!("kernel `{}`", launch.name),
        )?;
        let takes = sim.streams[index].take(launch.params, launch.accesses.iter().map(Touch::of));
        let bytes = launch.accesses.iter().map(|access| access.range.bytes).sum();
        sim.submit(index, Op::Kernel { function, takes: Takes { bytes, ..takes } });
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    /// Implements [`Libraries::call_library`](crate::driver::Libraries::call_library).
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn submit_library(
        &self,
        stream: RawStream,
        call: &LibraryCall<'_>,
    ) -> DriverResult<()> {
        const CALL: &str = "call_library";
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        sim.check_accesses(CALL, stream, call.accesses, &format_args!("`{}`", call.function))?;
        let takes = sim.streams[index].take(call.params, call.accesses.iter().map(Touch::of));
        let bytes = call.accesses.iter().map(|access| access.range.bytes).sum();
        let takes = Takes { bytes, ..takes };
        sim.submit(index, Op::Library { body: call.host.clone(), takes });
        // The policy may have executed the body at once, and the body may have failed.
        self.execute_after_submission(sim, index).deliver(stream.device())
    }
}

impl Sim {
    fn check_accesses(
        &self,
        call: &'static str,
        stream: RawStream,
        accesses: &[Access],
        of: &fmt::Arguments<'_>,
    ) -> DriverResult<()> {
        for access in accesses {
            self.check_in_reach(call, stream.device(), access.range, || {
                format!("argument `{}` of {of}", access.argument)
            })?;
        }
        Ok(())
    }
}
