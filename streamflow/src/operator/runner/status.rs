//! `status`: the state of a node, for reports. The call allocates.

use super::{Hooks, NodeRunner};
use crate::operator::condition::{Conditions, NodePorts};
use crate::operator::status::{NodeStatus, PortStatus};
use crate::port::Ports;

impl NodeRunner {
    pub(in crate::operator) fn status(&self, hooks: &mut dyn Hooks) -> NodeStatus {
        let (mut inputs, outputs) = port_statuses(hooks.ports());
        let changes = hooks.changes();
        let conditions = self.conditions.as_deref();
        for (index, input) in inputs.iter_mut().enumerate() {
            input.is_awaited = conditions.is_some_and(|all| all.await_messages(index));
            input.is_paired = conditions.is_some_and(|all| all.pair_messages(index));
        }
        let ports = NodePorts { inputs: &inputs, outputs: &outputs, tick: self.cx.tick() };
        let unmet = conditions.filter(|_| !self.is_flushed_now());
        let unmet = unmet.map(|conditions| conditions.unmet(&ports)).unwrap_or_default();
        let (mixed, mixed_pair) = self.cx.carried().mixed();
        let ended_by = conditions.and_then(Conditions::ended);
        NodeStatus {
            name: self.cx.node().to_owned(),
            ticks: self.cx.tick(),
            flush: self.flush,
            flush_ticks: self.flush_ticks,
            has_failed_flush: self.has_failed_flush,
            count: self.count,
            on_failure: self.recovery.policy(),
            failures: self.recovery.failures(),
            restarts: self.recovery.restarts(),
            first_failure: self.recovery.first().map(str::to_owned),
            // The context also counts as finished when a condition will not hold again. The report then names that condition.
            is_finished: self.cx.is_finished() && ended_by.is_none(),
            is_at_limit: self.computed() >= self.most && self.count != Some(self.most),
            has_no_end: self.most == u64::MAX && !conditions.is_some_and(Conditions::end),
            has_stopped_graph: self.cx.has_stopped_graph(),
            ended_by,
            unmet,
            runs_without_messages: self.runs_without_messages(),
            may_await: conditions.is_some_and(Conditions::may_await),
            inputs,
            outputs,
            parameters: changes.kept.into(),
            parameters_omitted: changes.omitted,
            missed_periods: conditions.map_or(0, Conditions::missed),
            mixed,
            mixed_pair,
            times: self.statistics.as_ref().map(|statistics| statistics.times()),
        }
    }
}

/// Returns the statuses of the inputs and of the outputs. The call allocates.
pub(super) fn port_statuses(ports: &mut dyn Ports) -> (Vec<PortStatus>, Vec<PortStatus>) {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    ports.inputs(&mut |input| {
        let (name, optional, edges) = (input.name(), input.is_optional(), input.edges());
        inputs.push(PortStatus { optional, ..PortStatus::new(name, edges) });
    });
    ports.outputs(&mut |output| {
        let (name, edges) = (output.name(), output.edges());
        let (has_emitted, is_branch) = (output.has_emitted(), output.is_branch());
        outputs.push(PortStatus { has_emitted, is_branch, ..PortStatus::new(name, edges) });
    });
    (inputs, outputs)
}
