//! The ways in which `receive_cuda_stream` finds the operator's internal stream, as types: Holoscan's `allocate` and
//! `sync_to_default`.
//!
//! The first stream that is found is used from then on: all ports and all later ticks return the same stream.

use crate::context::StreamPolicy;

/// The way in which `receive_cuda_stream` finds the internal stream, as a type.
pub trait FindStream: sealed::FindStream {
    /// The policy.
    const POLICY: StreamPolicy;
}

/// The stream is allocated from the node's pool. Holoscan's `allocate = true`, without its fallbacks.
#[derive(Debug)]
pub enum Allocated {}

/// The stream is allocated from the node's pool. If the pool is exhausted, or if there is no pool, it is the first
/// stream that comes with a message. Holoscan's `allocate = true`.
#[derive(Debug)]
pub enum AllocatedOrAdopted {}

/// The stream is the first stream that comes with a message. Holoscan's `allocate = false`.
#[derive(Debug)]
pub enum Adopted {}

/// The policy or state `S`, extended: if no message comes with a stream, the stream is the default stream.
#[derive(Debug)]
pub struct OrDefault<S>(std::marker::PhantomData<S>);

/// The policy or state `S`, extended: the default stream waits for the stream that is found. Holoscan's
/// `sync_to_default`.
#[derive(Debug)]
pub struct ToDefault<S>(std::marker::PhantomData<S>);

/// Seals [`FindStream`](super::FindStream): the runtime knows these policies, and no others.
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
