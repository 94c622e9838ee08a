//! How the operators of a graph get their internal streams.

/// How the operators of a graph that share a stream pool get their internal streams.
///
/// An operator's internal stream is the one that [`receive_cuda_stream`](crate::port::In::receive_cuda_stream) returns. A graph
/// computes the same data with both variants, since work is ordered by its data, on whichever stream it is queued.
/// [`Planned`](Self::Planned) needs fewer events, because the work on one stream is in order without events.
///
/// ```
/// use streamflow::CudaStreamPool;
/// use streamflow::stream::Assign;
///
/// const STREAMS: CudaStreamPool = CudaStreamPool::new().assign(Assign::Planned { depth: 2 }).checked();
/// ```
///
/// The environment variable `STREAMFLOW_ASSIGN=planned:2` makes all pools `Planned` with depth 2, in graphs for which the program
/// sets no assignment. All nodes without `#[streams]` then count as nodes of one pool, which is also planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assign {
    /// Each operator has a stream of its own, as in Holoscan.
    #[default]
    PerOperator,
    /// The runtime chooses the fewest streams on which independent operators can still run at the same time: operators that
    /// follow each other share a stream.
    ///
    /// - An operator follows another one if an edge of device data leads from that one to it, with capacity 1, without a policy,
    ///   and to an input that is not optional. A `#[feedback]` edge does not count.
    /// - Operators share a stream only if they name the same pool and the same worker, or if none of them names a worker.
    /// - Three kinds of operators have streams of their own: one that declares streams; one that gets its internal stream in
    ///   [`start`](crate::Compute::start), for example for a plan of cuFFT; and one that may adopt a stream.
    /// - An operator that has made an [`OnStream`](crate::context::OnStream) for its internal stream, or has called
    ///   [`raw`](crate::CudaStream::raw) on that stream, works on the same stream in all later ticks.
    /// - In a pool with a [`max_size`](crate::CudaStreamPool::max_size), the operators never use more streams than with
    ///   `PerOperator`, so the depth may be smaller than `depth`. A plan does not change how large `max_size` must be.
    Planned {
        /// How many sets of streams the ticks use in turn: 1 to 64. With 2, the work of a tick need not wait for the work of the
        /// tick before it.
        depth: u32,
    },
}

/// The largest allowed depth. A larger depth is a mistake, since no graph has that many ticks in flight.
const MOST: u32 = 64;

impl Assign {
    /// Returns the mistake in this assignment, as a text to append to the pool's name; `None` if there is no mistake.
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

    /// Parses an assignment, for example `per_operator` or `planned:2`. Returns `None` for any other text.
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
