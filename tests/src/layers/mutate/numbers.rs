//! Identifies dropped calls by number: where the layer accepts no notes, nothing names the node that makes a call.

/// The calls and declarations that a run has dropped, each by its number among all of its kind, from 0. A run under the
/// same seed makes the same calls, so a later run without notes can drop the same ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The numbers of dropped calls.
    pub dependencies: Vec<u64>,
    /// The numbers of wrong declarations and claims.
    pub declarations: Vec<u64>,
}

/// Counts the calls (or declarations) of one run, and remembers those that were dropped.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    next: u64,
    dropped: Vec<u64>,
    /// The numbers that an earlier run has dropped, used in place of names.
    repeated: Option<Vec<u64>>,
}

impl Numbers {
    /// Decides by the numbers that an earlier run has dropped.
    pub(super) fn repeat(dropped: Vec<u64>) -> Self {
        Self { repeated: Some(dropped), ..Self::default() }
    }

    /// Whether the next call is dropped. `is_named` says whether it is by its name; the numbers of an earlier run have
    /// precedence.
    pub(super) fn drops(&mut self, is_named: bool) -> bool {
        let number = self.next;
        self.next += 1;
        let drops = self.repeated.as_ref().map_or(is_named, |list| list.contains(&number));
        if drops {
            self.dropped.push(number);
        }
        drops
    }

    pub(super) fn dropped(&self) -> &[u64] {
        &self.dropped
    }
}
