//! Where `receive_cuda_stream` may find the internal stream: Holoscan's `allocate` and `sync_to_default`.

/// Where an operator's internal stream may come from. Whichever it is, the first one found stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamPolicy {
    /// It may be allocated from the operator's pool.
    pub allocate: bool,
    /// It may be the first stream that comes with a message.
    pub adopt: bool,
    /// It may be the default stream, when no message comes with one.
    pub or_default: bool,
    /// The default stream waits for it.
    pub sync_to_default: bool,
}

impl StreamPolicy {
    /// What policies are built from: there is no internal stream.
    pub const NOWHERE: Self =
        Self { allocate: false, adopt: false, or_default: false, sync_to_default: false };
}
