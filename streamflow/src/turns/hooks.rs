//! What a unit test does in place of another thread, when its own thread gets to a named point: for interleavings that
//! a test spells out.

use std::cell::RefCell;

type Hook = (&'static str, Box<dyn FnOnce()>);

thread_local! {
    static HOOKS: RefCell<Vec<Hook>> = const { RefCell::new(Vec::new()) };
}

/// Does this when the thread gets to the point next, once.
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

/// Whether all that was asked for was done.
pub(crate) fn are_done() -> bool {
    HOOKS.with_borrow(Vec::is_empty)
}
