//! Types that say where `receive_cuda_stream` gets the operator's internal stream from. They stand for Holoscan's parameters
//! `allocate` and `sync_to_default`.
//!
//! The internal stream is found once: all ports and all later ticks return the stream that was found first.

use crate::context::StreamPolicy;

/// A type that says where `receive_cuda_stream` gets the internal stream from.
pub trait FindStream: sealed::FindStream {
    /// The policy as a value, for the execution context.
    const POLICY: StreamPolicy;
}

/// The internal stream is allocated from the node's pool. Holoscan's `allocate = true`, without its fallbacks.
#[derive(Debug)]
pub enum Allocated {}

/// The internal stream is allocated from the node's pool. If the pool is exhausted, or if the node has no pool, the first stream
/// that comes with a message is adopted. Holoscan's `allocate = true`.
#[derive(Debug)]
pub enum AllocatedOrAdopted {}

/// The first stream that comes with a message is adopted as the internal stream. Holoscan's `allocate = false`.
#[derive(Debug)]
pub enum Adopted {}

/// Extends the policy or state `S`: if no message comes with a stream, the default stream is the internal stream.
#[derive(Debug)]
pub struct OrDefault<S>(std::marker::PhantomData<S>);

/// Extends the policy or state `S`: the default stream is made to wait for the internal stream. Holoscan's `sync_to_default`.
#[derive(Debug)]
pub struct ToDefault<S>(std::marker::PhantomData<S>);

/// Seals [`FindStream`](super::FindStream): the execution context knows these policies alone.
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
