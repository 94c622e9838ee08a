//! Hooks at named points: a unit test runs code at a point, in the role of another thread, to force one interleaving.

use std::cell::RefCell;

type Hook = (&'static str, Box<dyn FnOnce()>);

thread_local! {
    static HOOKS: RefCell<Vec<Hook>> = const { RefCell::new(Vec::new()) };
}

/// Calls `then` once, when the calling thread next reaches the point.
pub fn at(point: &'static str, then: impl FnOnce() + 'static) {
    let _gone = HOOKS.try_with(|hooks| hooks.borrow_mut().push((point, Box::new(then))));
}

pub(super) fn reached(point: &'static str) {
    let found = HOOKS.try_with(|hooks| {
        let mut hooks = hooks.borrow_mut();
        let index = hooks.iter().position(|(at, _)| *at == point)?;
        Some(hooks.remove(index))
    });
    if let Ok(Some((_, then))) = found {
        then();
    }
}

/// Whether all hooks that the calling thread set were called.
pub fn are_done() -> bool {
    HOOKS.try_with(|hooks| hooks.borrow().is_empty()).unwrap_or(true)
}

/// Removes the hooks of the calling thread that were not called.
pub fn clear() {
    let _gone = HOOKS.try_with(|hooks| hooks.borrow_mut().clear());
}
