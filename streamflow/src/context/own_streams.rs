//! The streams of a node, by where they come from. `streams.rs` finds the stream that a hook's call needs.

use std::cell::{Cell, OnceCell};

use super::{Planned, SingleStream};
use crate::driver::{DeviceId, DriverResult};
use crate::error::Result;
use crate::stream::{CudaStream, StreamPool};

/// Where a node gets its streams from.
#[derive(Debug, Clone)]
pub(crate) enum Streams {
    Pool(StreamPool),
    /// A pool with `use_default_stream`: each stream of the node is the default stream of its device.
    Default,
    /// `#[streams(none)]`: an adopting node, without a pool. It adopts the first stream that comes with a message.
    Adopt,
}

/// The streams of a node. The node gets each of them when it uses it for the first time.
// The fields are in this order because the ticks of most nodes use only the fields from `from` to `declared`.
#[repr(C)]
pub(super) struct OwnStreams {
    pub(super) from: Streams,
    pub(super) device: DeviceId,
    /// Whether `undeclared` or `defaults` has a stream. Each hook checks this flag instead of the two lists, since most operators
    /// have no such stream.
    pub(super) has_others: Cell<bool>,
    /// The device whose default stream this tick uses, if no message came with another stream.
    pub(super) on_default: Cell<Option<DeviceId>>,
    /// Tells whether the whole graph has only one stream.
    pub(super) single: SingleStream,
    pub(super) internal: OnceCell<CudaStream>,
    /// The streams that a plan gives the node. They are used as internal streams while `internal` is empty.
    pub(super) planned: Option<Box<Planned>>,
    /// The declared streams, in the order of `names`. Each is allocated at its first use.
    pub(super) declared: Box<[OnceCell<CudaStream>]>,
    /// The names of the declared streams.
    pub(super) names: &'static [&'static str],
    /// The streams that a hook has allocated by names that the operator does not declare.
    pub(super) undeclared: boxcar::Vec<(String, CudaStream)>,
    /// The default streams that the node has used, by device. An operator that adopts streams may use default streams of several
    /// devices.
    pub(super) defaults: Box<[OnceCell<CudaStream>]>,
}

impl OwnStreams {
    /// Creates the state of a node that has no streams yet. `devices` is the platform's number of devices.
    pub(super) fn new(
        device: DeviceId,
        from: Streams,
        names: &'static [&'static str],
        single: &SingleStream,
        devices: usize,
    ) -> Self {
        Self {
            from,
            device,
            has_others: Cell::new(false),
            on_default: Cell::new(None),
            single: single.clone(),
            internal: OnceCell::new(),
            planned: None,
            declared: names.iter().map(|_| OnceCell::new()).collect(),
            names,
            undeclared: boxcar::Vec::new(),
            defaults: (0..devices).map(|_| OnceCell::new()).collect(),
        }
    }

    /// Returns the device of the streams. A node that adopts a stream is on its own device until it has adopted one. In a tick
    /// that received messages from a default stream, it is on the device of that stream.
    #[inline]
    pub(super) fn device(&self) -> DeviceId {
        match (&self.from, self.internal.get()) {
            (Streams::Adopt, Some(adopted)) => adopted.device(),
            (Streams::Adopt, None) => self.on_default.get().unwrap_or(self.device),
            (Streams::Pool(_) | Streams::Default, _) => self.device,
        }
    }

    /// Returns the pool of the streams, if the node has one.
    pub(super) fn pool(&self) -> Option<&StreamPool> {
        match &self.from {
            Streams::Pool(pool) => Some(pool),
            Streams::Default | Streams::Adopt => None,
        }
    }

    /// Records an event on each stream that a hook used (law 8), unless the graph has only one stream.
    #[inline]
    pub(super) fn close(&self) -> DriverResult<()> {
        if self.single.holds() {
            return Ok(());
        }
        if self.has_others.get() {
            return self.close_each();
        }
        // Most operators have one stream: the internal stream, a planned stream, or, for sources, the declared stream.
        match (self.internal.get(), &self.planned, &*self.declared) {
            (Some(stream), _, []) => stream.timeline().close(),
            (None, Some(planned), []) => planned.close(),
            (None, None, [declared]) => {
                declared.get().map_or(Ok(()), |stream| stream.timeline().close())
            }
            _ => self.close_each(),
        }
    }

    #[inline(never)]
    fn close_each(&self) -> DriverResult<()> {
        // These loops cost less in each hook than a chain of iterators.
        if let Some(stream) = self.internal.get() {
            stream.timeline().close()?;
        } else if let Some(planned) = &self.planned {
            planned.close()?;
        }
        for cell in &self.declared {
            if let Some(stream) = cell.get() {
                stream.timeline().close()?;
            }
        }
        if self.has_others.get() { self.close_others() } else { Ok(()) }
    }

    #[inline(never)]
    fn close_others(&self) -> DriverResult<()> {
        for (_, (_, stream)) in &self.undeclared {
            stream.timeline().close()?;
        }
        for stream in self.default_streams() {
            // The handle of a default stream names no device, and the hook may have made another device current.
            stream.timeline().bind()?;
            stream.timeline().close()?;
        }
        Ok(())
    }

    /// Blocks the host until all work on the node's streams is complete.
    pub(super) fn synchronize_blocking(&self) -> Result<()> {
        let declared = self.declared.iter().filter_map(OnceCell::get);
        let planned = self.planned.iter().flat_map(|planned| planned.all());
        let mut own = self.internal.get().into_iter().chain(planned).chain(declared);
        own.try_for_each(CudaStream::synchronize_blocking)?;
        self.undeclared.iter().try_for_each(|(_, (_, stream))| stream.synchronize_blocking())?;
        self.default_streams().try_for_each(CudaStream::synchronize_blocking)
    }

    fn default_streams(&self) -> impl Iterator<Item = &CudaStream> {
        self.defaults.iter().filter_map(OnceCell::get)
    }
}
