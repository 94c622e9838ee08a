//! A report while the graph runs: what each node is doing, collected one by one.
//!
//! If a node is in a hook, the worker that called the hook reads the node's status when the hook has returned. So a
//! report stops no other node. In a pause no node waits to run: one worker reads the statuses of all nodes at once, when
//! the last hook has returned.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use super::core::Core;
use super::team::{Collection, Team};
use crate::graph::NodeStatus;
use crate::lock::locked;
use crate::schedule::report::{End, Report};
use crate::schedule::shared::Shared;

impl Team<'_, '_> {
    /// Begins a report that was requested.
    pub(super) fn begin_report(&self) {
        let mut collection = locked(&self.collection);
        // The request is taken before the statuses are read: a request that comes later is then not lost.
        self.control.begin_report();
        collection.asked = self.shared.map_or(0, Shared::asked);
        collection.statuses.clear();
        collection.statuses.resize_with(self.nodes.len(), || None);
        self.collects.store(true, Ordering::Release);
    }

    /// Reads the status of each node that no worker holds. Publishes the report when it is complete.
    pub(super) fn collect(&self) {
        while self.collects.load(Ordering::Acquire) {
            if !self.control.permits_ticks() {
                if !self.collect_at_once() {
                    return;
                }
                // Another report may have been begun while this worker held all nodes.
                continue;
            }
            let progress = self.collect_each();
            let collection = locked(&self.collection);
            let is_complete = collection.statuses.iter().all(Option::is_some);
            if is_complete && self.control.permits_ticks() {
                return self.publish(collection);
            }
            // After the begin of a pause, all statuses are read again: those from before the pause may not fit together.
            if !is_complete && !progress && self.control.permits_ticks() {
                return;
            }
        }
    }

    /// Reads each status that is still missing, if no worker holds the node. Returns whether there was such a node.
    fn collect_each(&self) -> bool {
        let mut progress = false;
        for (index, node) in self.nodes.iter().enumerate() {
            let is_missing =
                || locked(&self.collection).statuses.get(index).is_some_and(Option::is_none);
            if !is_missing() || !self.board.change(|core| core.claim(index)) {
                continue;
            }
            let status = locked(node).status();
            if let Some(place) = locked(&self.collection).statuses.get_mut(index) {
                place.get_or_insert(status);
            }
            self.board.change(|core| core.release(index));
            progress = true;
        }
        progress
    }

    /// Reads the statuses of all nodes and returns `true`. If another worker holds a node, returns `false`: that worker
    /// calls [`collect`](Self::collect) when it has given the node back.
    fn collect_at_once(&self) -> bool {
        if !self.board.change(Core::claim_all) {
            return false;
        }
        let now = self.nodes.iter().map(|node| Some(locked(node).status())).collect();
        let mut collection = locked(&self.collection);
        collection.statuses = now;
        // Does nothing if another worker has published the report.
        self.publish(collection);
        self.board.change(Core::release_all);
        true
    }

    /// Publishes a complete report. The lock is held meanwhile, so that no later report is published first.
    fn publish(&self, mut collection: MutexGuard<'_, Collection>) {
        if !self.collects.swap(false, Ordering::AcqRel) {
            return;
        }
        let now: Vec<NodeStatus> = collection.statuses.drain(..).flatten().collect();
        if let Some(shared) = self.shared {
            let report = Report::new(End::NotYet, &now, &now, self.platform, self.control);
            shared.publish(report, collection.asked);
        }
    }
}
