//! Makes a `Graph` from a `ParsedGraph`, without the parts that have mistakes. Checks all that can be checked without knowing the
//! types of the operators.

mod borders;
mod conditions;
mod declarations;
mod edges;
mod header;
mod nodes;
mod order;
mod pools;
mod ports;
mod toposort;

use self::declarations::Declarations;
use self::edges::Connections;
use super::model::{Graph, Nodes};
use super::syntax::ParsedGraph;
use crate::diagnostic::Errors;

/// Checks the graph, and returns all of it that can be expanded. Returns `None` if the graph's struct can't be defined.
pub(super) fn check_graph(parsed: ParsedGraph, errors: &mut Errors) -> Option<Graph> {
    let ParsedGraph { header, statements } = parsed;
    let mut header = header::check_header(header, errors);
    let mut declarations = declarations::collect(statements, errors);
    declarations.leave_out_nodes_named_as_pools(errors);
    let Declarations { pools, left_out_pools, mut nodes, names, edges, ports, left_out } =
        declarations;
    let mut ports = ports::declare(ports, &header, &nodes, errors);
    let shadows_operator = nodes::check_graph_name(&header.name, header.has_ports, &nodes, errors);
    let has_unknown_ports = nodes::check_parameters(&header, &nodes, errors);
    nodes::check_accessors(&mut nodes, errors);
    pools::check_pool_uses(&pools, &left_out_pools, &mut nodes, errors);
    pools::check_green_contexts(&pools, &left_out_pools, &mut header, errors);
    pools::check_values(&pools, &header, errors);
    if header.has_ports {
        ports::check_header(&mut header, &pools, &ports, errors);
    }
    let nodes = Nodes::new(nodes);
    let connections = edges::connect(edges, &nodes, &names, &header.params, &mut ports, errors);
    let Connections { edges, discards, unknown_nodes } = connections;
    edges::check_transfers(&edges, &nodes, (&pools, header.has_ports), errors);
    edges::check_duplicates(&edges, errors);
    edges::check_discards(&discards, &edges, &ports, errors);
    conditions::check_numbers(&nodes, &edges, &ports, errors);
    let order = order::order_nodes(&nodes, &edges, errors);
    let in_cycles = order::check_policies(&nodes, &edges, errors);
    borders::check_edges(&ports, errors);
    if errors.is_empty() {
        // After another mistake, a pool may be unused only because the node that uses it was left out.
        pools::check_unused(&pools, &nodes, &header, errors);
    }
    if !errors.is_empty() {
        nodes::report_unknown_nodes(&unknown_nodes, &nodes, errors);
    }
    // If an operator has the graph's name, the graph's struct is not defined: it would shadow the operator wherever that is
    // named. If the ports of a type are not known, each use of the node would be one more error.
    (!shadows_operator && !has_unknown_ports).then(|| Graph {
        header,
        pools,
        nodes,
        edges,
        discards,
        ports,
        order,
        in_cycles,
        left_out,
        has_unknown_nodes: !unknown_nodes.is_empty(),
        is_sound: errors.is_empty(),
    })
}
