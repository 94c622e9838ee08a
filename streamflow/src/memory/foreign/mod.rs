//! Exchange of memory with other code: streamflow uses memory of other code, and other code uses memory of streamflow.
//!
//! Law 9 holds for memory in both directions:
//!
//! - **Adopted memory** belongs to other code. It is a normal [`Tensor`](super::Tensor), or a [`Shared`](super::Shared)
//!   one if it may only be read. When the tensor is dropped, a stream of streamflow waits for all uses of the memory, and
//!   then a host function on that stream adds the owner to a list. The *reaper* thread drops the owner. The owner's drop
//!   may do anything, so it runs in no drop of streamflow, in no stream's function, and under no lock.
//! - **Lent memory** belongs to streamflow. The other code returns it by a call that may come from any thread and under
//!   any lock. So the call only adds the memory to a list. Later the pool of the memory makes its reclaim stream wait for
//!   all work that any code has queued on the device until then, and takes the memory back.
//!
//! The rules are the invariants 16 to 22 of `memory/README.md`.
//!
//! On a GPU the reaper takes lent memory back. On the simulator, a call of the driver by another thread would make two runs
//! with the same seed differ. So there the pool takes the memory back when it allocates, lends or adopts memory, and when it
//! is closed. The reaper takes back memory that is returned after the pool was closed.

mod adopt;
mod after_work;
mod bound;
#[cfg(feature = "cudarc")]
pub mod cudarc;
#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg_attr(
    not(any(feature = "cudarc", feature = "dlpack")),
    allow(dead_code, reason = "only DLPack and cudarc get memory")
)]
mod lent;
mod pitched;
mod raw_shared;
mod reaper;
mod returned;

pub use adopt::{After, ForeignMemory};
pub use after_work::AfterWork;
