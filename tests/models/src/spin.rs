//! The mutex of the crate `spin`, with the atomics of the models: `build.rs` takes it from the sources of that crate.

pub(crate) use ::spin::RelaxStrategy;
pub(crate) use ::spin::relax::Spin;

#[allow(warnings, reason = "the code of another crate")]
pub(crate) mod mutex {
    use super::{RelaxStrategy, Spin};
    use crate::sync::{AtomicBool, Ordering};

    include!(concat!(env!("OUT_DIR"), "/spin.rs"));
}
