//! Functions that format parts of error texts.

use super::Error;

/// Formats a number of errors, as `1 error` or `2 errors`.
pub(super) fn errors(count: usize) -> String {
    format!("{count} error{}", if count == 1 { "" } else { "s" })
}

/// Returns the texts of all errors. The texts are numbered if there are several.
pub(super) fn texts(errors: &[Error]) -> String {
    if let [one] = errors {
        return one.to_string();
    }
    let numbered =
        errors.iter().enumerate().map(|(index, error)| format!("({}) {error}", index + 1));
    numbered.collect::<Vec<_>>().join("; ")
}

/// Names the streams for which memory was allocated. The runtime does not know to which streams messages have carried the memory
/// since.
pub(super) fn allocated_for(holders: &[(String, usize)]) -> String {
    if holders.is_empty() {
        return String::new();
    }
    let each = holders.iter().map(|(holder, count)| format!("`{holder}` ({count})"));
    let each = each.collect::<Vec<_>>().join(", ");
    format!(", allocated for the streams {each}; messages may have carried them elsewhere")
}

/// Returns a text about the memory pools of a device. Each pool has a name, a number of bytes in use, and a number of free bytes.
pub(super) fn held_by(pools: &[(String, u64, u64)], total: u64) -> String {
    let used: u64 = pools.iter().map(|(_, used, _)| *used).sum();
    let each = pools.iter().map(|(name, used, free)| {
        let name = pool_name(name);
        match free {
            0 => format!("{used} by {name}"),
            _ => format!("{used} by {name}, which got {free} more back meanwhile"),
        }
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let each = if each.is_empty() { each } else { format!(" ({each})") };
    format!("of its {total} bytes {used} are in use by this platform{each}")
}

fn pool_name(name: &str) -> String {
    if name.is_empty() {
        "the platform's own pool".to_owned()
    } else {
        format!("allocator `{name}`")
    }
}

/// Names the options that help when memory is exhausted, as the end of an error's text.
pub(super) fn memory_option(pools: &[(String, u64, u64)], is_simulated: bool) -> String {
    let mut text = String::new();
    if let Some((name, ..)) = pools.first().filter(|(name, ..)| !name.is_empty()) {
        text = format!("; a lower `MemoryLimits::max_size` bounds allocator `{name}`");
    } else if !pools.is_empty() {
        text.push_str("; an allocator with `MemoryLimits::max_size` bounds what an operator takes");
    }
    if is_simulated {
        text.push_str("; `HostBuilder::memory` gives the simulated device more");
    }
    text
}

pub(super) fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
