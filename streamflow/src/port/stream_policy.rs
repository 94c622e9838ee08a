//! How `receive_cuda_stream` finds the operator's internal stream: Holoscan's `allocate` and
//! `sync_to_default`, as types.
//!
//! Whichever it is, the first one found stays: every other port and every later tick gives the same.

use crate::context::StreamPolicy;

/// Where the internal stream may come from, as a type.
pub trait FindStream: sealed::FindStream {
    /// The policy.
    const POLICY: StreamPolicy;
}

/// From the operator's pool. Holoscan's `allocate = true`, without its fallbacks.
#[derive(Debug)]
pub enum Allocated {}

/// From the operator's pool; when that is exhausted, or when there is none, the first stream that
/// comes with a message. Holoscan's `allocate = true`.
#[derive(Debug)]
pub enum AllocatedOrAdopted {}

/// The first stream that comes with a message. Holoscan's `allocate = false`.
#[derive(Debug)]
pub enum Adopted {}

/// As `S`, a policy or a state of an input; and when no message comes with a stream, the default stream.
#[derive(Debug)]
pub struct OrDefault<S>(std::marker::PhantomData<S>);

/// As `S`, a policy or a state of an input; and the default stream waits for what is found. Holoscan's
/// `sync_to_default`.
#[derive(Debug)]
pub struct ToDefault<S>(std::marker::PhantomData<S>);

/// Whoever could make another one would have to know the whole of the rules.
mod sealed {
    pub trait FindStream {}
    impl FindStream for super::Allocated {}
    impl FindStream for super::AllocatedOrAdopted {}
    impl FindStream for super::Adopted {}
    impl<P: FindStream> FindStream for super::OrDefault<P> {}
    impl<P: FindStream> FindStream for super::ToDefault<P> {}
}

impl FindStream for Allocated {
    const POLICY: StreamPolicy = StreamPolicy { allocate: true, ..StreamPolicy::NOWHERE };
}

impl FindStream for AllocatedOrAdopted {
    const POLICY: StreamPolicy = StreamPolicy { adopt: true, ..Allocated::POLICY };
}

impl FindStream for Adopted {
    const POLICY: StreamPolicy = StreamPolicy { adopt: true, ..StreamPolicy::NOWHERE };
}

impl<P: FindStream> FindStream for OrDefault<P> {
    const POLICY: StreamPolicy = StreamPolicy { or_default: true, ..P::POLICY };
}

impl<P: FindStream> FindStream for ToDefault<P> {
    const POLICY: StreamPolicy = StreamPolicy { sync_to_default: true, ..P::POLICY };
}
