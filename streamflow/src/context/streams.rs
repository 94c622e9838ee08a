//! How an operator finds its streams: the declared and named streams, the internal stream and the default streams.
//!
//! `receive_cuda_stream` calls `receive_stream`, which makes the internal stream wait for the points of the messages.
//! `stream/order.rs` decides for which of these waits the driver is called (law 7).

use std::cell::OnceCell;
use std::iter;

use super::stream_ref::{StreamRef, Synchronized};
use super::{Activity, ExecutionContext, Planned, Stream, StreamName, StreamPolicy, Streams};
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::stream::{CudaStream, Point};

impl ExecutionContext {
    /// Returns a declared stream. The first call allocates the stream from the node's pool. Later calls return the same stream,
    /// in `start` and in `compute`. This is Holoscan's `allocate_cuda_stream`. For Holoscan's `device_from_stream`, use
    /// [`stream.device()`](CudaStream::device), which can't fail.
    ///
    /// With a pool of [`use_default_stream`](crate::CudaStreamPool::use_default_stream), the stream is the device's default
    /// stream.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`]; [`Error::NoPool`] for an adopting node.
    pub fn allocate_cuda_stream(&self, name: StreamName<'_>) -> Result<Stream<'_>> {
        self.declared_stream(name.index())
    }

    /// Returns a stream by a name that is known only at run time, and otherwise works as
    /// [`allocate_cuda_stream`](Self::allocate_cuda_stream). The name of a declared stream returns that stream. Undeclared
    /// streams can't be counted while compiling, so an exhausted pool is an error of this call. Each call searches for the name,
    /// so a stream that is always needed should be declared.
    ///
    /// # Errors
    /// As for [`allocate_cuda_stream`](Self::allocate_cuda_stream).
    pub fn allocate_cuda_stream_named(&self, name: &str) -> Result<Stream<'_>> {
        if let Some(index) = self.streams.names.iter().position(|declared| *declared == name) {
            return self.declared_stream(index);
        }
        if matches!(self.streams.from, Streams::Default) {
            return self.default_stream_of(self.streams.device);
        }
        let known = self.streams.undeclared.iter().find(|(_, (known, _))| known == name);
        if let Some((_, (_, stream))) = known {
            return Ok(Stream::new(stream));
        }
        let stream = self.allocate(name)?;
        self.streams.single.use_undeclared(&stream);
        let index = self.streams.undeclared.push((name.to_owned(), stream));
        self.streams.has_others.set(true);
        Ok(Stream::new(&self.streams.undeclared[index].1))
    }

    /// Returns the internal stream, the one that `receive_cuda_stream` returns in `compute`. If the node has no internal stream
    /// yet, this call allocates one from its pool; `graph!` counts that stream for operators with a device input. In `start`, use
    /// it for values that are made once and need a stream, as a library's plan in an [`OnStream`](super::OnStream).
    ///
    /// With a pool of [`use_default_stream`](crate::CudaStreamPool::use_default_stream), the stream is the device's default
    /// stream.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`]; [`Error::NoPool`] for an adopting node, whose stream comes with its messages.
    pub fn internal_stream(&self) -> Result<Stream<'_>> {
        if matches!(self.streams.from, Streams::Default) {
            return self.default_stream_of(self.streams.device);
        }
        if let Some(planned) = &self.streams.planned
            && self.streams.internal.get().is_none()
        {
            if self.is_in_tick() || planned.has_stream() {
                return self.planned_stream(planned, &mut iter::empty());
            }
            planned.leave();
        }
        if self.streams.internal.get().is_none() {
            let stream = match &self.streams.from {
                Streams::Pool(pool) => pool.allocate(self.node.clone())?,
                Streams::Default | Streams::Adopt => {
                    return Err(Error::NoPool {
                        node: self.node.clone(),
                        stream: "its internal stream".to_owned(),
                    });
                }
            };
            self.streams.single.use_declared(&stream);
            let _first = self.streams.internal.set(stream);
        }
        stored(&self.streams.internal)
    }

    fn declared_stream(&self, index: usize) -> Result<Stream<'_>> {
        if matches!(self.streams.from, Streams::Default) {
            return self.default_stream_of(self.streams.device);
        }
        let cell = &self.streams.declared[index];
        if cell.get().is_none() {
            let stream = self.allocate(self.streams.names[index])?;
            self.streams.single.use_declared(&stream);
            let _first = cell.set(stream);
        }
        stored(cell)
    }

    fn allocate(&self, name: &str) -> Result<CudaStream> {
        match &self.streams.from {
            Streams::Pool(pool) => pool.allocate(format!("{}.{name}", self.node)),
            Streams::Default | Streams::Adopt => {
                Err(Error::NoPool { node: self.node.clone(), stream: name.to_owned() })
            }
        }
    }

    /// Makes the stream `target` wait for the streams on which messages were sent, without blocking the host. `None` and `target`
    /// itself are skipped. The returned [`Synchronized`] opens the data of the messages:
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # #[operator(streams(work))]
    /// # struct Both { #[input] a: &Tensor<f32>, #[input] b: &Tensor<f32> }
    /// # impl Compute for Both {
    /// fn compute(&mut self, io: BothIo<'_>, cx: &ExecutionContext) -> Result<()> {
    ///     let (a, b) = (io.a.receive(), io.b.receive());
    ///     let target = cx.allocate_cuda_stream(io.work)?;
    ///     let after = cx.synchronize_streams(a.streams().chain(b.streams()), &target)?;
    ///     let (a, b) = (a.into_synchronized_data(&after)?, b.into_synchronized_data(&after)?);
    /// #   let _ = (a, b);
    ///     Ok(())
    /// }
    /// # }
    /// ```
    ///
    /// Holoscan's `synchronize_streams` also makes the default stream wait. This method does not.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`]; errors of the driver, when a wait fails.
    pub fn synchronize_streams<'c>(
        &self,
        streams: impl IntoIterator<Item = Option<StreamRef>>,
        target: &Stream<'c>,
    ) -> Result<Synchronized<'c>> {
        let mut after = Synchronized::new(*target);
        for stream in streams.into_iter().flatten() {
            after.wait(stream.point())?;
        }
        Ok(after)
    }

    /// Returns the label of the stream on which a message was sent: the name of the node that allocated the stream, and the
    /// stream's name there.
    pub(crate) fn label_of(&self, stream: StreamRef) -> String {
        self.table().timeline(stream.point().stream()).label()
    }

    /// Returns the legacy default stream of the operator's device. Work on this stream and work on the device's blocking streams
    /// wait for each other, as in CUDA. For all other streams, messages and launches make the default stream wait where their
    /// data needs it.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn default_stream(&self) -> Result<Stream<'_>> {
        self.default_stream_of(self.device())
    }

    fn default_stream_of(&self, device: DeviceId) -> Result<Stream<'_>> {
        let stream = &self.streams.defaults[device.index()];
        if stream.get().is_none() {
            let default = self.platform.default_stream(device)?;
            self.streams.single.use_undeclared(&default);
            let _first = stream.set(default);
            self.streams.has_others.set(true);
        }
        stored(stream)
    }

    /// Finds the internal stream by `policy`, makes it wait for the points in `sent`, and returns it.
    #[inline(always)]
    pub(crate) fn receive_stream(
        &self,
        policy: StreamPolicy,
        sent: impl Iterator<Item = Point> + Clone,
    ) -> Result<Stream<'_>> {
        let stream = match self.streams.internal.get() {
            Some(stream) => Stream::new(stream),
            None => self.find_internal(policy, &mut sent.clone())?,
        };
        // The device was made current before the hook. But a library may have made another device current since, and an adopted
        // stream may be on another device.
        stream.timeline().bind()?;
        for point in sent {
            stream.timeline().wait(stream.table(), point)?;
        }
        if policy.sync_to_default {
            self.wait_on_default(stream)?;
        }
        Ok(stream)
    }

    /// Makes the default stream wait for the work that was queued on the internal stream until now.
    fn wait_on_default(&self, stream: Stream<'_>) -> Result<()> {
        let default = self.default_stream()?;
        if default.timeline().id() != stream.timeline().id() {
            default.wait(stream.record()?)?;
        }
        Ok(())
    }

    /// Finds the internal stream, or the default stream that this tick uses.
    #[inline(never)]
    fn find_internal(
        &self,
        policy: StreamPolicy,
        sent: &mut dyn Iterator<Item = Point>,
    ) -> Result<Stream<'_>> {
        if matches!(self.streams.from, Streams::Default) {
            self.streams.on_default.set(Some(self.streams.device));
            return self.default_stream_of(self.streams.device);
        }
        if let Some(planned) = &self.streams.planned {
            if planned.has_stream() || policy.allocate && !policy.adopt {
                return self.planned_stream(planned, sent);
            }
            planned.leave();
        }
        let allocated = match &self.streams.from {
            // Unlike `allocate`, this call makes no error when the pool is exhausted, which may be so in every tick.
            Streams::Pool(pool) if policy.allocate && policy.adopt => {
                pool.allocate_if_free(&self.node)?
            }
            Streams::Pool(pool) if policy.allocate => Some(pool.allocate(self.node.clone())?),
            _ => None,
        };
        // An adopting node works on the stream of its first message; this may be a default stream, which is used for this tick
        // alone.
        let (mut found, mut default) = (allocated, None);
        while found.is_none()
            && let Some(point) = sent.next()
        {
            if !self.table().is_default(point.stream()) {
                found = Some(self.platform.stream_of(point));
            } else if matches!(self.streams.from, Streams::Adopt) {
                default = default.or(Some(self.table().timeline(point.stream()).device()));
            }
        }
        match (found, default.or(policy.or_default.then(|| self.device()))) {
            (Some(stream), _) => {
                self.streams.single.use_declared(&stream);
                let _first = self.streams.internal.set(stream);
                stored(&self.streams.internal)
            }
            (None, Some(device)) => {
                // If a port of this tick has already returned a default stream, return the same one.
                let device = self.streams.on_default.get().unwrap_or(device);
                self.streams.on_default.set(Some(device));
                self.default_stream_of(device)
            }
            (None, None) => Err(self.nothing_to_adopt(policy)),
        }
    }

    /// Returns the stream of the plan that this tick uses.
    fn planned_stream<'a>(
        &'a self,
        planned: &'a Planned,
        sent: &mut dyn Iterator<Item = Point>,
    ) -> Result<Stream<'a>> {
        let is_new = |stream: &CudaStream| self.streams.single.use_declared(stream);
        planned.choose(self.tick(), sent, &is_new).map(Stream::new)
    }

    /// Returns whether a tick is running: the hook `compute` or `flush`.
    fn is_in_tick(&self) -> bool {
        self.cell().word().activity() == Activity::Computing
    }

    fn nothing_to_adopt(&self, policy: StreamPolicy) -> Error {
        let exhausted = match &self.streams.from {
            Streams::Pool(pool) if policy.allocate => Some(pool.name().to_owned()),
            _ => None,
        };
        Error::NothingToAdopt { node: self.node.clone(), exhausted }
    }

    /// Returns the stream on which an output sends: the internal stream, or the default stream that this tick uses.
    #[inline]
    pub(crate) fn sending_stream(&self, port: &str) -> Result<&CudaStream> {
        match (self.streams.internal.get(), &self.streams.planned) {
            (Some(stream), _) => Ok(stream),
            // This stream was chosen when the tick received at an input.
            (None, Some(planned)) if self.streams.on_default.get().is_none() => {
                match planned.chosen(self.tick()) {
                    Some(stream) => Ok(stream),
                    None => self.sending_stream_of_tick(port),
                }
            }
            _ => self.sending_stream_of_tick(port),
        }
    }

    #[inline(never)]
    fn sending_stream_of_tick(&self, port: &str) -> Result<&CudaStream> {
        let on_default = self.streams.on_default.get();
        let default = on_default.and_then(|device| self.streams.defaults[device.index()].get());
        let missing = || Error::NoStream { node: self.node.clone(), port: port.to_owned() };
        if let Some(stream) = default {
            return Ok(stream);
        }
        match &self.streams.planned {
            // Choose the stream of this tick as for an input, since an earlier tick has used a stream of the plan.
            Some(planned) if planned.has_stream() => {
                let is_new = |stream: &CudaStream| self.streams.single.use_declared(stream);
                planned.choose(self.tick(), &mut iter::empty(), &is_new)
            }
            _ => Err(missing()),
        }
    }
}

fn stored(cell: &OnceCell<CudaStream>) -> Result<Stream<'_>> {
    match cell.get() {
        Some(stream) => Ok(Stream::new(stream)),
        None => unreachable!("the stream was stored just now"),
    }
}
