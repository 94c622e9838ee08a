//! Parts of the texts of errors.

use super::Error;
use crate::time::Timestamp;

/// `1 error`, `2 errors`
pub(super) fn errors(count: usize) -> String {
    format!("{count} error{}", if count == 1 { "" } else { "s" })
}

/// All of them, numbered if there are several.
pub(super) fn texts(errors: &[Error]) -> String {
    if let [one] = errors {
        return one.to_string();
    }
    let numbered =
        errors.iter().enumerate().map(|(index, error)| format!("({}) {error}", index + 1));
    numbered.collect::<Vec<_>>().join("; ")
}

/// The runtime knows for which stream memory was allocated, and not where messages have carried it.
pub(super) fn allocated_for(holders: &[(String, usize)]) -> String {
    if holders.is_empty() {
        return String::new();
    }
    let each = holders.iter().map(|(holder, count)| format!("`{holder}` ({count})"));
    let each = each.collect::<Vec<_>>().join(", ");
    format!(", allocated for the streams {each}; messages may have carried them elsewhere")
}

/// A hook that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InHook {
    /// The node.
    pub node: String,
    /// `start`, `compute` or `stop`; `synchronize` while the end of the run waits for the node's device work.
    pub hook: &'static str,
    /// The tick, from 0.
    pub tick: u64,
    /// Since when, at the latest: when a handle first saw it, by the platform's clock.
    pub since: Timestamp,
}

pub(super) fn describe(hook: Option<&InHook>) -> String {
    match hook {
        None => "no hook runs now, so it waits or is between two ticks; `stop` ends it".to_owned(),
        Some(InHook { node, hook: "synchronize", .. }) => {
            format!("the work that `{node}` has queued on the device is not complete")
        }
        Some(InHook { node, hook, tick, .. }) => {
            format!(
                "node `{node}` has not returned from `{hook}`, tick {tick}; the run ends only after that"
            )
        }
    }
}

pub(super) fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Which matrix of a batch an error is about.
#[cfg(feature = "solve")]
pub(super) fn of_batch(matrix: Option<usize>) -> String {
    matrix.map(|matrix| format!(", matrix {matrix} of the batch")).unwrap_or_default()
}
