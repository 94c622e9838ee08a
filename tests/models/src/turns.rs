//! No thread of a model takes turns: loom interleaves them.

pub(crate) fn point(_name: &'static str) {}

pub(crate) fn yield_turn() -> bool {
    false
}

pub(crate) fn takes_turns() -> bool {
    false
}

pub(crate) fn sleep(_is_awake: impl Fn() -> bool, _wait: impl FnOnce(std::time::Duration)) {}
