//! The type of a platform, and the numbers of its devices. The other files have the methods of a platform, by purpose.

use std::sync::Arc;

use super::Inner;
use crate::driver::DeviceId;

/// A logical device: the `index`th of its platform.
pub const fn device(index: u32) -> DeviceId {
    DeviceId(index)
}

/// Devices, their streams and their memory: GPUs, or the simulator. Cheap to clone; the clones are one platform.
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
/// The simulator is for tests, and for machines without a GPU. The simulator keeps CUDA's rules of order strictly, and
/// computes the right data. It does not show
///
/// - **how fast a program is.** Kernels run their Rust body, one after the other, on the host. Times of its devices are
///   of a fixed model; wherever the library prints one, the word "simulated" is beside it.
/// - **whether the CUDA bodies are right.** They are not compiled there: see the two tests of a kernel's bodies in
///   [`testing`](crate::testing#the-two-bodies-of-a-kernel).
/// - **compiled code**, as PTX of other tools: [`Platform::module`] is an error.
/// - **limits of one GPU**: priorities, green contexts and caches change nothing, and memory ends at the amount of
///   [`HostBuilder::memory`](crate::driver::host::HostBuilder::memory).
/// - managed memory and stream capture: there are none.
///
/// [A page of the guide](crate::guide::simulator_and_cuda) has the whole list, each line with its test.
#[derive(Clone)]
pub struct Platform(pub(super) Arc<Inner>);
