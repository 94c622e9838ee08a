//! How the operators of a graph get their internal streams.

/// How the operators of a graph that share a pool get their internal streams.
///
/// The internal stream is the one that [`receive_cuda_stream`](crate::port::In::receive_cuda_stream) gives. A graph
/// computes the same data with both variants: work is ordered by its data, on whichever stream it is queued.
/// [`Planned`](Self::Planned) needs fewer events, because a stream executes its own work in order.
///
/// ```
/// use streamflow::CudaStreamPool;
/// use streamflow::stream::Assign;
///
/// const STREAMS: CudaStreamPool = CudaStreamPool::new().assign(Assign::Planned { depth: 2 }).checked();
/// ```
///
/// The environment variable `STREAMFLOW_ASSIGN=planned:2` plans, with depth 2, all pools of graphs without a setting of
/// the program. Nodes without `#[streams]` then count as one pool, and that pool is planned, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assign {
    /// Each operator has a stream of its own, as in Holoscan.
    #[default]
    PerOperator,
    /// The fewest streams that still let independent operators run at the same time: operators that follow each other
    /// share a stream.
    ///
    /// - An operator follows another one if edges of device data lead there that have capacity 1 and no policy, and end at
    ///   inputs that are not optional. A `#[feedback]` edge does not count.
    /// - Operators share a stream only if they name the same pool and the same worker, or both no worker.
    /// - These operators keep streams of their own: one that declares streams; one that asks for its internal stream in
    ///   [`start`](crate::Compute::start), for example for a plan of cuFFT; one that may adopt a stream.
    /// - An operator that has made an [`OnStream`](crate::context::OnStream) for its internal stream, or has asked for its
    ///   [handle](crate::CudaStream::raw), works on that stream in all later ticks.
    /// - In a pool with a [`max_size`](crate::CudaStreamPool::max_size), the operators never take more streams than with
    ///   `PerOperator`, so the depth may be smaller there. A plan does not change how large `max_size` must be.
    Planned {
        /// How many sets of streams the ticks use in turn: 1 to 64. With 2, the work of a tick need not wait for that of
        /// the tick before.
        depth: u32,
    },
}

/// The largest depth. A larger one is a mistake: no graph has that many ticks in flight.
const MOST: u32 = 64;

impl Assign {
    /// The mistake in this assignment, as a text that follows the pool's name. `None` without a mistake.
    pub(crate) const fn problem(self) -> Option<&'static str> {
        match self {
            Self::Planned { depth: 0 } => {
                Some(" is planned with depth 0; give at least 1, or leave `assign` out")
            }
            Self::Planned { depth } if depth > MOST => {
                Some(" is planned with a depth above 64; give less: 2 or 3 let ticks overlap")
            }
            _ => None,
        }
    }

    /// Parses an assignment, for example `per_operator` or `planned:2`.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let assign = match text.trim().split_once(':') {
            None if text.trim() == "per_operator" => Self::PerOperator,
            Some(("planned", depth)) => Self::Planned { depth: depth.parse().ok()? },
            _ => return None,
        };
        assign.problem().is_none().then_some(assign)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_assignment_is_read() {
        let planned = |depth| Some(Assign::Planned { depth });
        assert_eq!(Assign::of_text("per_operator"), Some(Assign::PerOperator));
        assert_eq!(Assign::of_text("planned:1"), planned(1));
        assert_eq!(Assign::of_text(" planned:64 "), planned(64));
        for wrong in [
            "",
            "planned",
            "planned:0",
            "planned:65",
            "planned:x",
            "planned:-1",
            "other:2",
            "per_operator:1",
        ] {
            assert_eq!(Assign::of_text(wrong), None, "{wrong}");
        }
    }
}
