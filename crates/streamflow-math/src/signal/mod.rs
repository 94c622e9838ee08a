//! The parts that operators of signals share: the types of samples and indices, their kernels, and the checks of what they receive.

pub(crate) mod checks;
mod index;
#[doc(hidden)]
pub mod kernels;
mod sample;

pub use index::Index;
pub use sample::Sample;
