//! A report while the graph runs: what each node is doing, collected one by one.
//!
//! A node in a hook is asked when the hook returns, by the worker that called it. So a report stops no other node. In a
//! pause no node waits to run: all are asked at once, when the last hook has returned.

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
        // Comes first: a later request is then not lost.
        self.control.begin_report();
        collection.asked = self.shared.map_or(0, Shared::asked);
        collection.statuses.clear();
        collection.statuses.resize_with(self.nodes.len(), || None);
        self.collects.store(true, Ordering::Release);
    }

    /// Asks each node that can be asked now. Publishes the report when it is complete.
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
            // After the begin of a pause, all nodes are asked anew: the statuses collected before it may not fit together.
            if !is_complete && !progress && self.control.permits_ticks() {
                return;
            }
        }
    }

    /// Asks each node that no worker holds and that was not asked before. Returns whether there was such a node.
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

    /// Asks all nodes and returns `true`. If another worker holds a node, returns `false`: that worker asks when it has
    /// given the node back.
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
