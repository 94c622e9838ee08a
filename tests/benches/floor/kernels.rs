//! The kernels of a task.

/// The kernels of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernels {
    /// No kernels: only events and waits.
    None,
    /// A kernel for each task that it reads. A task that reads nothing has a kernel with the number of the tick.
    ForEachRead,
    /// A single kernel that reads the first of them. No parameter changes within a turn.
    One,
}

impl Kernels {
    /// Whether there are any.
    pub(crate) fn any(self) -> bool {
        self != Self::None
    }

    /// How many of the tasks that a task reads are read by its kernels.
    pub(crate) fn reads(self, all: usize) -> usize {
        match self {
            Self::None => 0,
            Self::ForEachRead => all,
            Self::One => all.min(1),
        }
    }

    /// The number that distinguishes a tick from others, in a turn with this salt. Kernels get it as a parameter: in a
    /// replayed tick their nodes are given another one.
    pub(crate) fn number(self, salt: u32, tick: u64) -> u32 {
        if self == Self::One { salt } else { salt.wrapping_add(tick as u32) }
    }
}
