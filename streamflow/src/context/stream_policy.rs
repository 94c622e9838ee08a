//! Where `receive_cuda_stream` may get the internal stream from, as a value for the context: Holoscan's `allocate` and
//! `sync_to_default`. `port::stream_policy` has the same as types.

/// Where an operator may get its internal stream from. The stream that is found first stays the internal stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamPolicy {
    /// The stream may be allocated from the operator's pool.
    pub allocate: bool,
    /// The stream may be the first stream that comes with a message.
    pub adopt: bool,
    /// If no message comes with a stream, the stream may be the default stream.
    pub or_default: bool,
    /// The default stream is made to wait for the internal stream.
    pub sync_to_default: bool,
}

impl StreamPolicy {
    /// The policy without any source of a stream. The other policies are made from this one.
    pub const NOWHERE: Self =
        Self { allocate: false, adopt: false, or_default: false, sync_to_default: false };
}
