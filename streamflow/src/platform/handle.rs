//! The types `Platform` and `DeviceId`. The methods of a platform are in the other files of the module, by purpose.

use std::sync::Arc;

use super::Inner;
use crate::driver::DeviceId;

/// Returns the name of the device with this index in a platform, counted from 0.
pub const fn device(index: u32) -> DeviceId {
    DeviceId(index)
}

/// Devices with their streams and their memory: GPUs, or the simulator. A `Platform` is cheap to clone, and all clones stand for
/// the same platform.
///
/// [`Platform::builder`] makes a platform. The same program runs on GPUs and on the simulator.
///
/// ```
/// # use streamflow::prelude::*;
/// # fn main() -> Result<()> {
/// // GPUs where there are any, else the simulator; `cuda()` and `host()` insist on one of them.
/// let platform = Platform::builder().statistics(true).detect()?;
/// println!("{}: {}", platform.name(), platform.why());
/// # Ok(())
/// # }
/// ```
///
/// # What the simulator does not do
///
/// The simulator is for tests, and for machines without a GPU. It keeps CUDA's rules of order strictly, and computes the right
/// data. It does not show
///
/// - **how fast a program is.** Kernels run their Rust body, one after the other, on the host. The times of simulated devices
///   come from a fixed model; wherever the library prints such a time, the word "simulated" is next to it.
/// - **whether the CUDA bodies are right.** The simulator does not compile them: see the two tests of a kernel's bodies in
///   [`testing`](crate::testing#the-two-bodies-of-a-kernel).
/// - **compiled code**, as PTX of other tools: [`Platform::module`] returns an error.
/// - **limits of one GPU**: priorities, green contexts and caches change nothing, and memory is exhausted at the amount that
///   [`HostBuilder::memory`](crate::driver::host::HostBuilder::memory) sets.
/// - managed memory and stream capture: the simulator has neither.
///
/// [A page of the guide](crate::guide::simulator_and_cuda) has the whole list, each line with its test.
#[derive(Clone)]
pub struct Platform(pub(super) Arc<Inner>);
