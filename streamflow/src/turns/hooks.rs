//! Hooks at named points: a unit test runs code there, in place of another thread, to force one interleaving.

use std::cell::RefCell;

type Hook = (&'static str, Box<dyn FnOnce()>);

thread_local! {
    static HOOKS: RefCell<Vec<Hook>> = const { RefCell::new(Vec::new()) };
}

/// Calls `then` once, when the calling thread next reaches the point.
pub(crate) fn at(point: &'static str, then: impl FnOnce() + 'static) {
    HOOKS.with_borrow_mut(|hooks| hooks.push((point, Box::new(then))));
}

pub(super) fn reached(point: &'static str) {
    let found = HOOKS.with_borrow_mut(|hooks| {
        let index = hooks.iter().position(|(at, _)| *at == point)?;
        Some(hooks.remove(index))
    });
    if let Some((_, then)) = found {
        then();
    }
}

/// Whether all hooks of the calling thread were called.
pub(crate) fn are_done() -> bool {
    HOOKS.with_borrow(Vec::is_empty)
}

/// Forgets the hooks of the calling thread.
pub(crate) fn clear() {
    HOOKS.with_borrow_mut(Vec::clear);
}
