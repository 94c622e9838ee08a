//! The sources in which `receive_cuda_stream` may find the internal stream, as a value: Holoscan's `allocate` and
//! `sync_to_default`. `port::stream_policy` has the types.

/// The possible sources of an operator's internal stream. The first stream that is found is used from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamPolicy {
    /// The stream may be allocated from the operator's pool.
    pub allocate: bool,
    /// The stream may be the first stream that comes with a message.
    pub adopt: bool,
    /// The stream may be the default stream, when no message comes with a stream.
    pub or_default: bool,
    /// The default stream waits for the internal stream.
    pub sync_to_default: bool,
}

impl StreamPolicy {
    /// No source of a stream. The other policies are built from this one.
    pub const NOWHERE: Self =
        Self { allocate: false, adopt: false, or_default: false, sync_to_default: false };
}
