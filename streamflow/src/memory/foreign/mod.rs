//! Memory across the border: memory of other code that streamflow uses, and memory of streamflow that other code uses.
//!
//! Law 9 holds for memory in both directions:
//!
//! - **Adopted memory** belongs to other code. It is a normal [`Tensor`](super::Tensor), or a [`Shared`](super::Shared)
//!   one if it may only be read. When the tensor is dropped, a stream of streamflow waits for all uses and then adds
//!   the owner to a list. The *reaper* thread drops the owner. The owner's drop may do anything, so it runs in no drop
//!   of streamflow, in no stream's function, and under no lock.
//! - **Lent memory** belongs to streamflow. The other code returns it by a call that may come from any thread and under
//!   any lock. So the call only adds the memory to a list. Later the reclaim stream of the memory's pool comes after
//!   all work that any code has queued on the device until then, and the pool gets the memory back.
//!
//! The rules are the invariants 16 to 22 of `memory/README.md`.
//!
//! On a device the reaper takes lent memory back. On the simulator a call from another thread would break the
//! repetition of a seed's run, so the pool takes the memory back: when it allocates, lends or adopts memory, and when
//! it is closed. After the pool is closed, the reaper does.

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
mod raw_shared;
mod reaper;
mod returned;

pub use adopt::{After, ForeignMemory};
pub use after_work::AfterWork;
