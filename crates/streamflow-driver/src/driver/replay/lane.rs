//! Lanes. A lane is an executable graph, the trace that it replays, and the stream on which it is launched.

use super::bound;
use super::captures::Captures;
use super::cursor::Outside;
use super::footprint::Footprint;
use super::trace::{Trace, Work, same_params};
use crate::driver::graph::{GraphNode, GraphWork};
use crate::driver::replay::Omission;
use crate::driver::{
    DeviceId, Driver, DriverError, DriverResult, Param, RawEvent, RawGraph, RawStream,
    StreamOptions, first_error,
};

/// The most lanes that a driver has at a time.
pub(super) const MOST: usize = 32;

/// A set of lanes, as one bit for each lane's index.
pub(super) type Lanes = u32;

/// An executable graph, its trace, and the state of its launches.
// The fields that each call reads come first, so that a call touches few cache lines.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Lane {
    pub(super) trace: Trace,
    /// The waits for records from outside of the segment, in the latest segment that had this trace.
    pub(super) outside: Vec<Outside>,
    /// The streams of the trace, each with the index of its entry in the state.
    pub(super) streams: Vec<(RawStream, u32)>,
    /// The index of the lane that was launched next, after this lane's latest launch.
    pub(super) next: u32,
    /// The indices in the trace of the kernel launches whose parameters are newer than those of their graph nodes.
    changed: Vec<u32>,
    /// For each call of the trace: the index of its graph node, if the call has one, and the name of its kernel.
    nodes: Vec<(u32, String)>,
    graph: RawGraph,
    pub(super) stream: RawStream,
    footprint: Footprint,
    /// The lanes that access memory which this lane writes, or write memory which this lane accesses.
    pub(super) conflicts: Lanes,
    /// The number of the lane's latest launch; 0 before the first one.
    pub(super) last: u64,
    /// The value of `State::now` when the lane was made or last launched. The lane with the lowest value makes room for a
    /// new one.
    pub(super) used: u64,
    /// The number up to which all launches of the lane are known to be complete.
    pub(super) completed: u64,
    /// The event that streams and other lanes wait for, to come after this lane's launches.
    pub(super) mark: RawEvent,
    /// The number of the latest launch that comes before the record of `mark`.
    pub(super) marked: u64,
    /// The event that the host queries or waits for, to learn whether launches of this lane are complete.
    pub(super) answer: RawEvent,
    /// The number of the latest launch that comes before the record of `answer`.
    pub(super) asked: u64,
    /// For the index of each other lane: the number of that lane's latest launch that this lane's stream comes after, by a
    /// wait of its own or of a lane that it comes after.
    pub(super) after: [u64; MOST],
    /// Whether the lane must not be launched again.
    pub(super) is_retired: bool,
}

/// The driver's objects for a lane that is being made.
pub(super) struct Made {
    nodes: Vec<(u32, String)>,
    graph: RawGraph,
    stream: RawStream,
    mark: RawEvent,
    answer: RawEvent,
}

impl Made {
    /// Creates the graph of a trace, a stream, and two events. `name` returns the name of a call's kernel.
    pub(super) fn new(
        below: &dyn Driver,
        device: DeviceId,
        trace: &Trace,
        left_out: Option<Omission>,
        captures: &Captures,
        name: impl Fn(&Work) -> String,
    ) -> DriverResult<Self> {
        bound::bind(below, device)?;
        let names: Vec<String> = trace.calls.iter().map(|call| name(&call.work)).collect();
        let edges = trace.edges(left_out);
        // Records and waits become edges of the graph, not nodes. `index` maps the index of a call to that of its node.
        let mut index = vec![0_u32; trace.len()];
        let mut count = 0;
        for (place, call) in trace.calls.iter().enumerate() {
            index[place] = count;
            count += u32::from(!matches!(call.work, Work::Record(..) | Work::Wait(_)));
        }
        let edges: Vec<Vec<u32>> = edges
            .iter()
            .map(|before| before.iter().map(|place| index[*place as usize]).collect())
            .collect();
        let nodes = trace.calls.iter().zip(&names).zip(&edges);
        let nodes: Vec<GraphNode<'_>> = nodes
            .filter_map(|((call, name), after)| {
                let work = match call.work {
                    Work::Launch(_) => GraphWork::Launch(trace.launch(&call.work, name)?),
                    Work::Copy(copy) => GraphWork::Copy(trace.copies[copy as usize]),
                    Work::Fill(range, byte) => GraphWork::Fill { range, byte },
                    Work::Recycle(range) => GraphWork::Recycle { range },
                    Work::Library(number, _) => GraphWork::Graph(captures.graph(number)?),
                    Work::Record(..) | Work::Wait(_) => return None,
                };
                Some(GraphNode { work, after })
            })
            .collect();
        // SAFETY: each call of the trace was made, and succeeded, with these parameters. The graph is launched only in place
        // of equal calls, and their callers vouch for the memory.
        let graph = unsafe { below.create_graph(device, &nodes) }?;
        // SAFETY: the objects were just made, and never used.
        let give_back = |stream, mark: Option<RawEvent>| unsafe {
            crate::driver::report_in_drop(
                "destroying a graph",
                destroy(below, graph, mark, stream),
            );
        };
        let stream = below.create_stream(device, StreamOptions::default());
        let stream = stream.inspect_err(|_| give_back(None, None))?;
        let mark = below.create_event(device).inspect_err(|_| give_back(Some(stream), None))?;
        let answer = below.create_event(device);
        let answer = answer.inspect_err(|_| give_back(Some(stream), Some(mark)))?;
        Ok(Self { nodes: index.into_iter().zip(names).collect(), graph, stream, mark, answer })
    }

    /// Destroys the objects, if they don't become a lane.
    pub(super) fn destroy(self, below: &dyn Driver) -> DriverResult<()> {
        // SAFETY: `self` owns all objects, and the graph was never launched.
        unsafe { destroy(below, self.graph, [self.mark, self.answer], Some(self.stream)) }
    }

    /// The lane's stream.
    pub(super) fn stream(&self) -> RawStream {
        self.stream
    }

    /// Makes the lane of these objects. `place_of` returns the index of a stream's entry in the state.
    pub(super) fn into_lane(self, trace: Trace, place_of: impl Fn(RawStream) -> u32) -> Lane {
        let Self { nodes, graph, stream, mark, answer } = self;
        let mut streams: Vec<_> =
            trace.calls.iter().map(|call| (call.stream, place_of(call.stream))).collect();
        streams.sort_unstable();
        streams.dedup();
        Lane {
            footprint: Footprint::of(&trace),
            // The list has room for every call of the trace, so that later ticks allocate nothing.
            changed: Vec::with_capacity(trace.len()),
            trace,
            streams,
            outside: Vec::new(),
            next: 0,
            nodes,
            graph,
            stream,
            conflicts: 0,
            last: 0,
            used: 0,
            completed: 0,
            mark,
            marked: 0,
            answer,
            asked: 0,
            after: [0; MOST],
            is_retired: false,
        }
    }
}

impl Lane {
    /// Whether two lanes access the same memory, and at least one of them writes it.
    pub(super) fn conflicts_with(&self, other: &Self) -> bool {
        self.footprint.conflicts(&other.footprint)
    }

    /// Gives the kernel launch at index `place` of the trace new parameters. `set_changed` copies them to the graph's node
    /// before the graph's next launch. CUDA applies them only to later launches of the executable graph: a launch that is
    /// already queued keeps its parameters.
    ///
    /// The change is sound whatever a parameter means. Launches are ordered by the memory that they access, and each caller
    /// declares all of that memory as accesses, by the contract of [`Launch`](crate::driver::Launch). Accesses are compared
    /// with their addresses, so the graph's edges and the order between launches stay right. The address in a slice
    /// parameter equals that of its access, so it can't change without the access. If `unsafe` code passes an integer that
    /// the kernel uses as an address, either the caller has declared the access, or the contract is broken with and without
    /// replay.
    pub(super) fn change(&mut self, place: u32, params: &[Param]) {
        let Some(call) = self.trace.calls.get_mut(place as usize) else { return };
        let Work::Launch(kernel) = &mut call.work else { return };
        let (start, end) = kernel.params;
        let known = &mut self.trace.params[start as usize..end as usize];
        if same_params(known, params) || known.len() != params.len() {
            return;
        }
        known.copy_from_slice(params);
        if !kernel.is_changed {
            kernel.is_changed = true;
            self.changed.push(place);
        }
    }

    /// Copies changed parameters from the trace to the graph's nodes. Returns whether any node changed. An error comes with
    /// the index of the failed launch in the trace. After an error some nodes have new parameters and others have old ones,
    /// so the graph must not be launched again.
    #[inline]
    pub(super) fn set_changed(&mut self, below: &dyn Driver) -> Result<bool, (DriverError, u32)> {
        if self.changed.is_empty() { Ok(false) } else { self.set_nodes(below) }
    }

    fn set_nodes(&mut self, below: &dyn Driver) -> Result<bool, (DriverError, u32)> {
        for &place in &self.changed {
            let (Some(call), Some((node, name))) =
                (self.trace.calls.get(place as usize), self.nodes.get(place as usize))
            else {
                continue;
            };
            let Some(launch) = self.trace.launch(&call.work, name) else { continue };
            // SAFETY: the graph is this lane's, and the node was made from a launch that differs only in its parameters. The
            // new parameters are those of the held-back call that the graph's next launch replaces.
            let set = unsafe { below.set_graph_kernel(self.graph, *node, &launch) };
            set.map_err(|error| (error, place))?;
        }
        self.forget_changed();
        Ok(true)
    }

    /// Clears the list of changed launches. The caller has copied the parameters to the nodes.
    pub(super) fn forget_changed(&mut self) {
        for place in self.changed.drain(..) {
            if let Work::Launch(kernel) = &mut self.trace.calls[place as usize].work {
                kernel.is_changed = false;
            }
        }
    }

    /// Returns the name of the kernel at index `place` of the trace, for messages.
    pub(super) fn name_of(&self, place: u32) -> &str {
        self.nodes.get(place as usize).map_or("?", |(_, name)| name)
    }

    /// Records the event `mark` on the lane's stream, unless its record already comes after all launches of the lane.
    pub(super) fn make_mark(&mut self, below: &dyn Driver) -> DriverResult<()> {
        if self.marked < self.last {
            // SAFETY: the event and the stream are this lane's, and live as long as the lane.
            unsafe { below.record_event(self.mark, self.stream) }?;
            self.marked = self.last;
        }
        Ok(())
    }

    /// Records the event `answer` on the lane's stream, after the latest launch of the lane.
    pub(super) fn ask(&mut self, below: &dyn Driver) -> DriverResult<()> {
        // SAFETY: the event and the stream are this lane's, and live as long as the lane.
        unsafe { below.record_event(self.answer, self.stream) }?;
        self.asked = self.last;
        Ok(())
    }

    /// Whether all launches of the lane are known to be complete, without a query.
    pub(super) fn is_known_complete(&self) -> bool {
        self.completed >= self.last
    }

    /// Whether the lane's launches up to `number` are complete; queries the event `answer` if that is not known.
    pub(super) fn is_complete(&mut self, below: &dyn Driver, number: u64) -> DriverResult<bool> {
        let needed = self.last.min(number);
        while self.completed < needed {
            // The event is recorded again only after its earlier record is complete. If each query recorded it again, the
            // record of a lane that is launched all the time would always move behind the latest launch, and never be found
            // complete.
            if self.asked <= self.completed {
                self.ask(below)?;
            }
            // SAFETY: the event is this lane's.
            if !unsafe { below.query_event(self.answer) }? {
                return Ok(false);
            }
            self.completed = self.asked;
        }
        Ok(true)
    }

    /// Whether the lane's stream has no unfinished work: neither launches nor waits for work that was sent to other streams.
    pub(super) fn is_empty(&self, below: &dyn Driver) -> DriverResult<bool> {
        // SAFETY: the stream is this lane's.
        unsafe { below.query_stream(self.stream) }
    }

    /// Launches the graph on the lane's stream. `number` is the number of the launch.
    pub(super) fn launch(&mut self, below: &dyn Driver, number: u64) -> DriverResult<()> {
        // SAFETY: the graph and the stream are this lane's. The callers of the held-back calls that this launch replaces
        // have met the contracts of `Driver`.
        unsafe { below.launch_graph(self.graph, self.stream) }?;
        self.last = number;
        Ok(())
    }

    /// Waits until the lane's work is complete, and destroys the lane's objects. If the lane is idle, the wait does not
    /// block, so the caller may hold a lock. If the wait fails, the objects are destroyed all the same, and the device still
    /// executes the work to its end.
    pub(super) fn destroy(self, below: &dyn Driver) -> DriverResult<()> {
        let bound = bound::bind(below, self.stream.device());
        // SAFETY: all objects are this lane's, and the lane is consumed.
        let (awaited, destroyed) = unsafe {
            (
                bound.and_then(|()| below.synchronize_stream(self.stream)),
                destroy(below, self.graph, [self.mark, self.answer], Some(self.stream)),
            )
        };
        first_error("destroying a graph", awaited, destroyed)
    }
}

/// Destroys all objects of a lane, even if destroying one of them fails. Returns the first error.
///
/// # Safety
/// The objects are the caller's, and nothing uses them any more.
unsafe fn destroy(
    below: &dyn Driver,
    graph: RawGraph,
    events: impl IntoIterator<Item = RawEvent>,
    stream: Option<RawStream>,
) -> DriverResult<()> {
    // SAFETY: the caller's contract, for each object.
    let mut destroyed = unsafe { below.destroy_graph(graph) };
    for event in events {
        // SAFETY: the caller's contract.
        destroyed = destroyed.and(unsafe { below.destroy_event(event) });
    }
    match stream {
        // SAFETY: the caller's contract.
        Some(stream) => destroyed.and(unsafe { below.destroy_stream(stream) }),
        None => destroyed,
    }
}
