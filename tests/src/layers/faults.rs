//! Faults of CUDA: a layer that makes one driver call fail as CUDA documents it, and counts live objects.

mod documented;
mod injector;
mod internal;
mod layer;
mod ledger;
mod mishandles;

pub use documented::{CALLS, Code, Function, STICKY, functions};
pub use injector::{Fault, INJECTED, Injector, Target, gives_back};
pub use internal::{INTERNAL, documented};
pub use ledger::Live;
pub use mishandles::{How, Mishandles};
