//! Models of a handle that a thread uses while graphs with its condition come and go.

use std::sync::Arc;

use loom::thread;

use super::sharers::Sharers;
use crate::explore::explore;
use crate::sync::{AtomicBool, Ordering};

/// A thread uses a handle while the first graph is made.
#[test]
pub(crate) fn a_handle_that_is_used_while_its_graph_is_made() {
    explore(|| {
        let sharers = Arc::new(Sharers::new());
        let other = sharers.clone();
        let thread = thread::spawn(move || other.add_condition());
        assert!(!sharers.is_left(), "a graph that was just made counts as dropped");
        thread.join().unwrap();
        sharers.remove_condition();
        assert!(sharers.is_left());
    });
}

/// Two threads each do something and then drop a handle. A third thread that finds no handle left sees what both have done.
#[test]
pub(crate) fn handles_that_threads_drop() {
    explore(|| {
        let shared = Arc::new((Sharers::new(), [(); 2].map(|()| AtomicBool::new(false))));
        shared.0.add_handle();
        let threads = [0, 1].map(|index| {
            let other = shared.clone();
            thread::spawn(move || {
                other.1[index].store(true, Ordering::Relaxed);
                other.0.remove_handle();
            })
        });
        if shared.0.is_abandoned() {
            let is_done = shared.1.each_ref().map(|done| done.load(Ordering::Relaxed));
            assert_eq!(is_done, [true; 2], "what a dropped handle has done is not seen");
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(shared.0.is_abandoned());
    });
}
