//! The node whose hook runs on the calling thread. The simulator executes a call's work later, and its errors name the
//! node that made the call.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    static CURRENT: Cell<Hook> = const { Cell::new(Hook { node: Asker(0), has_failure: 0 }) };
}

/// The hook that runs on a thread, as two numbers that are written at once.
#[derive(Debug, Clone, Copy)]
struct Hook {
    node: Asker,
    /// 1 after a call that should have written memory has failed, else 0.
    has_failure: u32,
}

/// A node as the number of its name, or no node.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asker(u32);

/// The names of all nodes that the process has made, each name once.
#[derive(Debug, Default)]
struct Names {
    all: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

static NAMES: Mutex<Option<Names>> = Mutex::new(None);

fn names() -> MutexGuard<'static, Option<Names>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Asker {
    /// Returns the node of this name.
    #[doc(hidden)]
    pub fn named(name: &str) -> Self {
        let mut names = names();
        let Names { all, numbers } = names.get_or_insert_default();
        if let Some(number) = numbers.get(name) {
            return Self(*number);
        }
        let name: Arc<str> = name.into();
        all.push(name.clone());
        let number = u32::try_from(all.len()).unwrap_or(0);
        numbers.insert(name, number);
        Self(number)
    }

    /// The name of the node; `None` for no node.
    #[doc(hidden)]
    #[inline]
    pub fn name(self) -> Option<Arc<str>> {
        let index = (self.0 as usize).checked_sub(1)?;
        names().as_ref()?.all.get(index).cloned()
    }

    /// Sets the node with the hook that the calling thread runs from now on, or no node.
    #[doc(hidden)]
    #[inline(always)]
    pub fn enter(self) {
        CURRENT.set(Hook { node: self, has_failure: 0 });
    }

    /// The node with the hook that the calling thread runs.
    #[doc(hidden)]
    #[inline]
    pub fn current() -> Self {
        CURRENT.get().node
    }

    /// Notes that a call of the hook that should have written memory has failed. Returns whether it is the hook's first
    /// such call.
    #[doc(hidden)]
    #[cold]
    pub fn mark_failed() -> bool {
        let before = CURRENT.get();
        CURRENT.set(Hook { has_failure: 1, ..before });
        before.has_failure == 0
    }

    /// Whether a call of the hook that should have written memory has failed.
    #[doc(hidden)]
    #[inline]
    pub fn has_failure() -> bool {
        CURRENT.get().has_failure != 0
    }
}
