//! Makes a report while the graph runs: collects the status of each node, one node after the other.
//!
//! If a node is in a hook, the worker that has called the hook reads the node's status when the hook has returned. So a report
//! holds up no other node. In a pause no node is about to run: when the last hook has returned, one worker reads the statuses of
//! all nodes at once.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use super::core::Core;
use super::team::{Collection, Team};
use crate::graph::NodeStatus;
use crate::lock::locked;
use crate::schedule::report::{End, Report};
use crate::schedule::shared::Shared;

impl Team<'_, '_> {
    /// Begins a report that a handle has requested.
    pub(super) fn begin_report(&self) {
        let mut collection = locked(&self.collection);
        // The request is taken before the statuses are read, so that a request that comes later begins another report.
        self.control.begin_report();
        collection.asked = self.shared.map_or(0, Shared::asked);
        collection.statuses.clear();
        collection.statuses.resize_with(self.nodes.len(), || None);
        self.collects.store(true, Ordering::Release);
    }

    /// Reads the status of each node that no worker holds, and publishes the report if it then has all statuses.
    pub(super) fn collect(&self) {
        while self.collects.load(Ordering::Acquire) {
            if !self.control.permits_ticks() {
                if !self.collect_at_once() {
                    return;
                }
                // Another report may have begun while this worker held all nodes, so the loop checks again.
                continue;
            }
            let progress = self.collect_each();
            let collection = locked(&self.collection);
            let is_complete = collection.statuses.iter().all(Option::is_some);
            if is_complete && self.control.permits_ticks() {
                return self.publish(collection);
            }
            // If a pause has begun, all statuses are read again at once: statuses read before the pause are of different moments.
            if !is_complete && !progress && self.control.permits_ticks() {
                return;
            }
        }
    }

    /// Reads each status that is missing, if no worker holds the node. Returns whether a status was read.
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

    /// Reads the statuses of all nodes at once and returns `true`. If another worker holds a node, returns `false`; that worker
    /// calls [`collect`](Self::collect) after it has given the node back.
    fn collect_at_once(&self) -> bool {
        if !self.board.change(Core::claim_all) {
            return false;
        }
        let now = self.nodes.iter().map(|node| Some(locked(node).status())).collect();
        let mut collection = locked(&self.collection);
        collection.statuses = now;
        // `publish` does nothing if another worker has published the report meanwhile.
        self.publish(collection);
        self.board.change(Core::release_all);
        true
    }

    /// Publishes a report that has all statuses. The lock is held until the end, so that no later report is published first.
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
