//! What debug builds check of law 17: where a plan says that one wait of a tick covers another, the claims must find the same.
//!
//! The plan assumes that each tick receives a message of each input that counts, on one stream, and then sends one at each
//! output that counts, on the same stream. Then the messages of a tick of all nodes belong together. A tick that does
//! anything else, as one that leaves a message in its queue, ends the check for the whole graph. So does a message whose
//! work the host has found complete: no stream waits for it, so its stream learns nothing of what came before that work.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ExecutionContext;
use crate::stream::{CudaStream, Point, StreamTable};

/// What a plan expects of a node.
#[derive(Debug)]
pub struct Prediction {
    /// The whole graph's: whether all ticks so far were as the plan assumes.
    holds: Arc<AtomicBool>,
    inputs: Box<[Expected]>,
    /// The outputs that count, and whether this tick has sent there.
    outputs: Box<[(&'static str, Cell<bool>)]>,
    /// The point of the message that is waited for now.
    awaited: Cell<Option<Point>>,
    /// The stream of this tick, and its next record when the first message was sent.
    stream: Cell<Option<u32>>,
    sent: Cell<Option<Point>>,
}

/// An input that counts.
#[derive(Debug)]
struct Expected {
    port: &'static str,
    /// The input whose wait covers this one's, by its number.
    implied_by: Option<usize>,
    is_received: Cell<bool>,
}

impl Prediction {
    /// `inputs` are the ports that count, each with the number of the one that covers it.
    pub(crate) fn new(
        holds: &Arc<AtomicBool>,
        inputs: impl Iterator<Item = (&'static str, Option<usize>)>,
        outputs: impl Iterator<Item = &'static str>,
    ) -> Self {
        let expected =
            |(port, implied_by)| Expected { port, implied_by, is_received: Cell::new(false) };
        Self {
            holds: holds.clone(),
            inputs: inputs.map(expected).collect(),
            outputs: outputs.map(|port| (port, Cell::new(false))).collect(),
            awaited: Cell::new(None),
            stream: Cell::new(None),
            sent: Cell::new(None),
        }
    }

    /// A message is received, and nothing has waited for it yet. If the input that covers it was received before, the wait
    /// must be one that the claims skip.
    pub(super) fn before_wait(&self, port: &str, point: Option<Point>, table: &StreamTable) {
        let Some(expected) = self.inputs.iter().find(|input| input.port == port) else { return };
        let is_first = !expected.is_received.replace(true);
        let covers = expected.implied_by.is_some_and(|other| self.inputs[other].is_received.get());
        let (true, Some(point)) = (is_first, point) else { return self.end() };
        self.awaited.set(Some(point));
        // A stream that has forgotten a wait makes it again.
        if let Some(stream) = self.stream.get().filter(|_| covers && table.remembers_each_stream())
        {
            debug_assert!(
                table.timeline(stream).implies(point) || !self.holds.load(Ordering::Relaxed),
                "the plan says that the wait for `{port}` is implied, and it is not: report this as a mistake of streamflow"
            );
        }
    }

    /// The messages of an input were waited for on this stream.
    pub(super) fn after_wait(&self, stream: u32, table: &StreamTable) {
        // Asked after the wait: what was not known then was not known before, on any thread.
        if self.awaited.take().is_some_and(|point| table.is_known_complete(point)) {
            self.end();
        }
        self.works_on(stream);
    }

    /// The tick works on this stream.
    fn works_on(&self, stream: u32) {
        if self.stream.replace(Some(stream)).is_some_and(|other| other != stream) {
            self.end();
        }
    }

    /// A message is about to be sent. `next` is the next record of its stream.
    pub(super) fn send(&self, port: &str, next: Point) {
        let Some((_, is_sent)) = self.outputs.iter().find(|(name, _)| *name == port) else {
            return;
        };
        let all_received = self.inputs.iter().all(|input| input.is_received.get());
        self.works_on(next.stream());
        // With a record between two messages of a tick, a wait for the first one does not cover the second.
        let is_one_record = self.sent.replace(Some(next)).is_none_or(|first| first == next);
        if is_sent.replace(true) || !all_received || !is_one_record {
            self.end();
        }
    }

    /// A message was sent, also the copies of it. `next` is the next record of its stream.
    pub(super) fn after_send(&self, port: &str, next: Point) {
        let counts = self.outputs.iter().any(|(name, _)| *name == port);
        // Another thread has made a record meanwhile, so the copies may have another one than the message.
        if counts && self.sent.get() != Some(next) {
            self.end();
        }
    }

    /// A tick has ended.
    pub(super) fn end_tick(&self) {
        let received = self.inputs.iter().all(|input| input.is_received.replace(false));
        let sent = self.outputs.iter().all(|(_, is_sent)| is_sent.replace(false));
        if !received || !sent {
            self.end();
        }
        self.awaited.set(None);
        self.stream.set(None);
        self.sent.set(None);
    }

    /// Something is not as the plan assumes.
    pub(super) fn end(&self) {
        self.holds.store(false, Ordering::Relaxed);
    }
}

impl ExecutionContext {
    /// Has debug builds compare what the node does with a plan.
    pub(crate) fn set_prediction(&mut self, prediction: Prediction) {
        self.prediction = Some(Box::new(prediction));
    }

    /// In debug builds, what a plan expects of the node, if it expects anything. Release builds compile no check.
    #[inline]
    fn prediction(&self) -> Option<&Prediction> {
        if cfg!(debug_assertions) { self.prediction.as_deref() } else { None }
    }

    /// A message of an input is about to be waited for.
    #[inline]
    pub(crate) fn predict_receive(&self, port: &str, sent: impl FnOnce() -> Option<Point>) {
        if let Some(prediction) = self.prediction() {
            prediction.before_wait(port, sent(), self.table());
        }
    }

    /// The messages of an input were waited for on this stream.
    #[inline]
    pub(crate) fn predict_received(&self, stream: &CudaStream) {
        if let Some(prediction) = self.prediction() {
            prediction.after_wait(stream.timeline().id(), self.table());
        }
    }

    /// A message is about to be sent.
    #[inline]
    pub(crate) fn predict_send(&self, port: &str, stream: Option<&CudaStream>) {
        if let (Some(prediction), Some(stream)) = (self.prediction(), stream) {
            prediction.send(port, stream.timeline().next_point());
        }
    }

    /// A message was sent.
    #[inline]
    pub(crate) fn predict_sent(&self, port: &str, stream: Option<&CudaStream>) {
        if let (Some(prediction), Some(stream)) = (self.prediction(), stream) {
            prediction.after_send(port, stream.timeline().next_point());
        }
    }

    /// A tick has ended, or failed.
    #[inline]
    pub(crate) fn predict_end(&self, succeeded: bool) {
        if let Some(prediction) = self.prediction() {
            if !succeeded {
                prediction.end();
            }
            prediction.end_tick();
        }
    }
}
