//! Graphs of the simulator. A launch queues the work of all nodes on the graph's own streams, and orders nodes on different
//! streams by events. So the rules of [`schedule`](super::schedule) apply, and the policies execute the work in all orders
//! that the graph's edges permit.

use smallvec::SmallVec;

use super::HostDriver;
use super::executable::{Arguments, Graph, Node, Work};
use super::failure::Failure;
use super::queue::{Op, Poison, StreamKind};
use super::refusal::{invalid_handle, invalid_value};
use super::sim::Sim;
use crate::driver::graph::{GraphNode, GraphWork};
use crate::driver::{DeviceId, DriverResult, Launch, MemoryRange, RawEvent, RawGraph, RawStream};

impl HostDriver {
    /// Implements [`Driver::create_graph`](crate::driver::Driver::create_graph).
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn make_graph(
        &self,
        device: DeviceId,
        nodes: &[GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        const CALL: &str = "create_graph";
        let mut sim = self.enter(CALL, device, super::Needs::Own)?;
        sim.check(device, CALL)?;
        let mut made: Vec<Node> = Vec::with_capacity(nodes.len());
        // The index of the last node of each of the graph's streams.
        let mut last: Vec<usize> = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let work = sim.graph_work(device, &node.work, CALL)?;
            let after: SmallVec<[usize; 2]> =
                node.after.iter().map(|&node| node as usize).collect();
            if after.iter().any(|before| *before >= index) {
                return Err(invalid_value(CALL, device, "a node names a later one"));
            }
            // A node goes on the stream of a node that it comes after, if that node is still the last one on its stream. If
            // there is no such stream, the node begins a new one.
            let stream = after.iter().find_map(|&before| {
                let stream = made[before].stream;
                (last[stream] == before).then_some(stream)
            });
            let stream = stream.unwrap_or_else(|| {
                last.push(index);
                last.len() - 1
            });
            last[stream] = index;
            let after = after.into_iter().filter(|&before| made[before].stream != stream).collect();
            made.push(Node { stream, after, work, event: None });
        }
        for index in 0..made.len() {
            for before in made[index].after.clone() {
                if made[before].event.is_none() {
                    made[before].event = Some(sim.add_event(device, false));
                }
            }
        }
        let streams =
            last.iter().map(|_| sim.add_stream(device, StreamKind::NonBlocking)).collect();
        let border = sim.add_event(device, false);
        let graph = Graph { device, nodes: made, streams, border, is_stale: false };
        let place = sim.graphs.iter().position(Option::is_none).unwrap_or(sim.graphs.len());
        if place == sim.graphs.len() {
            sim.graphs.push(None);
        }
        sim.graphs[place] = Some(graph);
        Ok(RawGraph::new(device, place as u64))
    }

    /// Implements [`Driver::launch_graph`](crate::driver::Driver::launch_graph).
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn submit_graph(
        &self,
        graph: RawGraph,
        stream: RawStream,
    ) -> DriverResult<()> {
        const CALL: &str = "launch_graph";
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        // The graph is moved out of the list while its nodes are queued, since `queue_graph` borrows the simulator mutably.
        let taken = sim.graph(graph, CALL)?.take();
        let Some(nodes) = taken else { return Err(no_graph(graph, CALL)) };
        let queued = sim.queue_graph(&nodes, index, stream);
        *sim.graph(graph, CALL)? = Some(nodes);
        queued?;
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    /// Implements [`Driver::set_graph_kernel`](crate::driver::Driver::set_graph_kernel). Work that earlier launches have
    /// queued keeps its old parameters.
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn set_kernel_of_graph(
        &self,
        graph: RawGraph,
        node: u32,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        const CALL: &str = "set_graph_kernel";
        let mut sim = self.enter(CALL, graph.device(), super::Needs::Any)?;
        sim.check(graph.device(), CALL)?;
        let function = sim.function(launch.function, CALL)?;
        let Some(nodes) = sim.graph(graph, CALL)? else { return Err(no_graph(graph, CALL)) };
        match nodes.nodes.get_mut(node as usize).map(|node| &mut node.work) {
            Some(Work::Kernel { function: known, takes })
                if *known == function && takes.params.len() == launch.params.len() =>
            {
                takes.params.copy_from_slice(launch.params);
                Ok(())
            }
            _ => Err(invalid_value(
                CALL,
                graph.device(),
                "the node is no launch of this kernel with as many parameters",
            )),
        }
    }

    /// Implements [`Driver::destroy_graph`](crate::driver::Driver::destroy_graph).
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn give_back_graph(&self, graph: RawGraph) -> DriverResult<()> {
        const CALL: &str = "destroy_graph";
        let mut sim = self.enter(CALL, graph.device(), super::Needs::Any)?;
        let Some(nodes) = sim.graph(graph, CALL)?.take() else { return Err(no_graph(graph, CALL)) };
        for stream in &nodes.streams {
            let index = sim.stream(*stream, CALL)?;
            sim.destroy_stream(index);
        }
        let events = nodes.nodes.iter().filter_map(|node| node.event);
        let given_back =
            events.chain([nodes.border]).try_for_each(|event| sim.destroy_event(event, CALL));
        // A library's body may own a value of the user's, with a `drop` of its own, so it is dropped without the lock.
        sim.dropped.extend(nodes.nodes.into_iter().filter_map(|node| match node.work {
            Work::Library { body, .. } => Some(body),
            _ => None,
        }));
        drop(self.drop_unlocked(sim));
        given_back
    }
}

fn no_graph(graph: RawGraph, call: &'static str) -> crate::driver::DriverError {
    invalid_handle(call, graph.device(), "there is no such graph")
}

impl Sim {
    /// Makes the graphs stale that copy or fill memory which is given back. CUDA ties a graph's copies and fills to the
    /// allocations of their memory, unless the memory is of a stream-ordered pool: a later allocation at the same address is
    /// a different one. The simulator makes no exception for pools.
    pub(super) fn retire_graphs_of(&mut self, range: MemoryRange) {
        for graph in self.graphs.iter_mut().flatten() {
            graph.is_stale |= graph.names(range);
        }
    }

    fn graph(&mut self, graph: RawGraph, call: &'static str) -> DriverResult<&mut Option<Graph>> {
        self.graphs.get_mut(graph.handle() as usize).ok_or_else(|| no_graph(graph, call))
    }

    fn graph_work(
        &self,
        device: DeviceId,
        work: &GraphWork<'_>,
        call: &'static str,
    ) -> DriverResult<Work> {
        Ok(match *work {
            GraphWork::Launch(launch) => Work::Kernel {
                function: self.function(launch.function, call)?,
                takes: Arguments::new(launch.params, launch.accesses),
            },
            GraphWork::Library(library) => Work::Library {
                body: library.host.clone(),
                takes: Arguments::new(library.params, library.accesses),
            },
            GraphWork::Graph(graph) => match self.graphs.get(graph.handle() as usize) {
                Some(Some(Graph { is_stale: true, .. })) => {
                    let message = "memory of the graph within another one was given back";
                    return Err(invalid_value(call, device, message));
                }
                Some(Some(Graph { nodes, .. })) if graph.device() == device => match &nodes[..] {
                    [node] => node.work.clone(),
                    _ => {
                        let message = "a graph within another one has one node";
                        return Err(invalid_value(call, device, message));
                    }
                },
                _ => return Err(no_graph(graph, call)),
            },
            GraphWork::Copy(copy) if copy.kind.blocks_host() => {
                return Err(invalid_value(call, device, "a copy of a graph can't block the host"));
            }
            GraphWork::Copy(copy) => Work::Copy(copy),
            GraphWork::Fill { range, byte } => Work::Fill(range, byte),
            GraphWork::Recycle { range } => Work::Recycle(range),
        })
    }

    fn queue_graph(&mut self, graph: &Graph, index: usize, stream: RawStream) -> DriverResult<()> {
        const CALL: &str = "launch_graph";
        if stream.device() != graph.device {
            let message = "a graph is launched on a stream of its own device";
            return Err(invalid_handle(CALL, stream.device(), message));
        }
        if graph.is_stale {
            self.fail(graph.device, Failure::of_stale_graph());
        }
        self.queue_record(index, graph.border)?;
        for own in &graph.streams {
            let own = self.stream(*own, CALL)?;
            self.queue_wait(own, graph.border)?;
        }
        for node in &graph.nodes {
            let own = self.stream(graph.streams[node.stream], CALL)?;
            for before in &node.after {
                if let Some(event) = graph.nodes[*before].event {
                    self.queue_wait(own, event)?;
                }
            }
            match &node.work {
                Work::Kernel { function, takes } => {
                    let takes = takes.give(&mut self.streams[own]);
                    self.submit(own, Op::Kernel { function: *function, takes });
                }
                Work::Library { body, takes } => {
                    let takes = takes.give(&mut self.streams[own]);
                    self.submit(own, Op::Library { body: body.clone(), takes });
                }
                Work::Copy(copy) => {
                    self.submit(
                        own,
                        Op::Copy {
                            target: copy.target.address,
                            source: copy.source.address,
                            bytes: copy.bytes(),
                            kind: copy.kind,
                            rows: copy.rows,
                        },
                    );
                }
                Work::Fill(range, byte) => {
                    let MemoryRange { address, bytes } = *range;
                    self.submit(own, Op::Fill { address, bytes, byte: *byte });
                }
                Work::Recycle(range) => {
                    let MemoryRange { address, bytes } = *range;
                    self.submit(own, Op::Poison { address, bytes, why: Poison::Recycle });
                }
            }
            if let Some(event) = node.event {
                self.queue_record(own, event)?;
            }
        }
        for own in &graph.streams {
            let own = self.stream(*own, CALL)?;
            self.queue_record(own, graph.border)?;
            self.queue_wait(index, graph.border)?;
        }
        Ok(())
    }

    fn queue_record(&mut self, index: usize, event: RawEvent) -> DriverResult<()> {
        let slot = self.event(event, "launch_graph")?;
        let latest = &mut self.events[slot];
        latest.records += 1;
        let op = Op::Record { event: latest.name, record: latest.records };
        let point = self.submit(index, op);
        self.recorded(slot, point);
        Ok(())
    }

    fn queue_wait(&mut self, index: usize, event: RawEvent) -> DriverResult<()> {
        let slot = self.event(event, "launch_graph")?;
        let event = &self.events[slot];
        let Some(until) = event.latest else { return Ok(()) };
        let op = Op::Wait { event: event.name, record: event.records, until };
        self.submit(index, op);
        self.ordered_after(index, slot);
        Ok(())
    }
}
