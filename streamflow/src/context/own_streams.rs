//! The streams of a node, by source. `streams.rs` finds the stream that a hook's call needs.

use std::cell::{Cell, OnceCell};

use super::{Planned, SingleStream};
use crate::driver::{DeviceId, DriverResult};
use crate::error::Result;
use crate::stream::{CudaStream, StreamPool};

/// The source of a node's streams.
#[derive(Debug, Clone)]
pub(crate) enum Streams {
    Pool(StreamPool),
    /// A pool of `use_default_stream`: every stream is the default stream of the node's device.
    Default,
    /// `#[streams(none)]`: an adopting node without a pool. It adopts the first stream that it receives.
    Adopt,
}

/// The streams of a node. A node has each of them from its first use on.
// The fields are in this order because the ticks of most nodes use only those down to `declared`.
#[repr(C)]
pub(super) struct OwnStreams {
    pub(super) from: Streams,
    pub(super) device: DeviceId,
    /// Whether `undeclared` or `defaults` has a stream: each hook checks this flag, and most operators have no such stream.
    pub(super) has_others: Cell<bool>,
    /// The device of the default stream on which this tick works, if it found no other stream.
    pub(super) on_default: Cell<Option<DeviceId>>,
    /// Whether the whole graph has only one stream.
    pub(super) single: SingleStream,
    pub(super) internal: OnceCell<CudaStream>,
    /// The streams that a plan gives the node, unless `internal` has a stream of its own.
    pub(super) planned: Option<Box<Planned>>,
    /// The declared streams, in the order of `names`, allocated at their first use.
    pub(super) declared: Box<[OnceCell<CudaStream>]>,
    /// The names of the declared streams.
    pub(super) names: &'static [&'static str],
    /// The streams that the operator named in a hook, without declaring them.
    pub(super) undeclared: boxcar::Vec<(String, CudaStream)>,
    /// The default streams that the node has used, by device. An operator that adopts streams may use those of several devices.
    pub(super) defaults: Box<[OnceCell<CudaStream>]>,
}

impl OwnStreams {
    /// Creates the state without streams, for a node on a platform with this number of devices.
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

    /// The device of the streams. A node that adopts a stream is on its own device until it has one. In a tick with
    /// messages from a default stream, it is on the device of that stream.
    #[inline]
    pub(super) fn device(&self) -> DeviceId {
        match (&self.from, self.internal.get()) {
            (Streams::Adopt, Some(adopted)) => adopted.device(),
            (Streams::Adopt, None) => self.on_default.get().unwrap_or(self.device),
            (Streams::Pool(_) | Streams::Default, _) => self.device,
        }
    }

    /// The pool of the streams.
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
        // A chain of iterators would cost more in each hook than these loops.
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
            // The handle of a default stream names no device, and the hook may have bound another device.
            stream.timeline().bind()?;
            stream.timeline().close()?;
        }
        Ok(())
    }

    /// Blocks until all work of the streams is complete.
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
