//! Which kernels a task launches.

/// Which kernels a task of a workload launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernels {
    /// None: the task has only events and waits.
    None,
    /// One kernel for each task whose output it reads. A task that reads nothing launches one kernel, with the tick's
    /// number as a parameter.
    ForEachRead,
    /// A single kernel, which reads the output of the first task that is read. No kernel parameter changes within a turn.
    One,
}

impl Kernels {
    /// Whether tasks launch kernels at all.
    pub(crate) fn any(self) -> bool {
        self != Self::None
    }

    /// Of the `all` tasks whose output a task reads, returns how many its kernels read.
    pub(crate) fn reads(self, all: usize) -> usize {
        match self {
            Self::None => 0,
            Self::ForEachRead => all,
            Self::One => all.min(1),
        }
    }

    /// Returns the number that distinguishes this tick from others, in a turn with this salt. Kernels get the number as a
    /// parameter, so a replayed tick must set a new parameter in its graph nodes.
    pub(crate) fn number(self, salt: u32, tick: u64) -> u32 {
        if self == Self::One { salt } else { salt.wrapping_add(tick as u32) }
    }
}
