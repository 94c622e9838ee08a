//! The mutex of the crate `spin`, compiled with loom's atomics. `build.rs` copies its source from that crate.

pub(crate) use ::spin::RelaxStrategy;
pub(crate) use ::spin::relax::Spin;

#[allow(warnings, reason = "the code of another crate")]
pub(crate) mod mutex {
    use super::{RelaxStrategy, Spin};
    use crate::sync::{AtomicBool, Ordering};

    include!(concat!(env!("OUT_DIR"), "/spin.rs"));
}
