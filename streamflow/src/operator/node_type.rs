//! The type of a node: an operator, a graph with ports, or an array of these. `graph!` sees the name of a type alone, so it writes the
//! same code for an operator and a graph, by the traits of this file. `graph!` implements them for a graph with ports.

use super::any_node::AnyNode;
use super::declaration::Declaration;
use super::factory::OperatorFactory;
use super::inside::store_made;
use super::options::NodeOptions;
use super::{Compute, Node, Operator};
use crate::error::Error;
use crate::platform::Platform;
use crate::port::PortInfo;
use crate::port::outside::VisitPorts;

/// A type that a node can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a streamflow operator",
    label = "this type is not an operator",
    note = "put `#[streamflow::operator]` on the definition of `{Self}`; a graph is one if it has ports: `input name: Type;`, \
            `output name: Type;`"
)]
pub trait NodeType: Sized {
    /// The name of the struct.
    const NAME: &'static str;
    /// The inputs, in order of declaration.
    const INPUTS: &'static [PortInfo];
    /// The outputs, in order of declaration.
    const OUTPUTS: &'static [PortInfo];
    /// The most streams that the node allocates from its pool: for a graph, the sum of its nodes without a pool of the graph.
    const STREAMS: usize;
    /// The most streams that the nodes of a graph allocate from pools of that graph.
    const OWN_STREAMS: usize = 0;
    /// Whether all hooks must be called on the thread of the run: for a graph, those of one of its nodes.
    const STAYS: bool;
    /// Whether the type has a use for a pool: it allocates streams, or works on a stream of a pool that a message needs. For a graph,
    /// whether one of its nodes without `#[streams(…)]` has.
    const USES_POOL: bool;
    /// Whether a failed tick is skipped, or its operator restarted, at a node of this graph.
    const GOES_ON: bool = false;
    /// Whether this is a graph.
    const IS_GRAPH: bool = false;
    /// The checks of a graph that depend on its generic parameters: they have a result for each use of the graph.
    const CHECKED: () = ();
    /// `true`. `graph!` names this constant, and rustc reports a type that is not an operator at that place.
    const __STREAMFLOW_IS_OPERATOR: bool = true;
    /// The value of a node's expression: an operator itself, or the parameters of a graph.
    type Value;
    /// The handle that sets the parameters.
    type Params: Clone + Send + Sync + 'static;
    /// `Self`, or an unknown type if the type can't be that of a node, which rustc has then reported.
    type __Checked;
    /// [`Made`](Self::Made), or an unknown type, as [`__Checked`](Self::__Checked).
    type __Node;
    /// The node itself.
    type Made: MadeNode;
    /// The operator of the node, or the graph, by reference. Of an array it is a list of these.
    type Shown<'a>
    where
        Self: 'a;
    /// The operator of the node, or the operators of the graph, to change them between runs. Of an array it is a list of these.
    type Mut<'a>
    where
        Self: 'a;
    /// The struct with a field for each port. Only the expansion for an editor names it: an editor finds no fields in
    /// [`MadeNode::Ports`], which has a lifetime.
    type __Ports;

    /// Makes a node and stores it in `made`, or stores the error in `failed`. Returns whether the node was made.
    fn __streamflow_make_node(
        value: Self::Value,
        made: &mut Option<Self::Made>,
        failed: &mut Option<Error>,
        name: &str,
        platform: &Platform,
        options: NodeOptions<'_>,
    ) -> bool;
    /// Returns the declaration of the type, if the type is a graph.
    fn __streamflow_declaration() -> Option<Declaration> {
        None
    }
    /// Returns the operator of a node, or the graph.
    fn __streamflow_shown(made: &Self::Made) -> Self::Shown<'_>;
    /// Returns the operator of a node, or the operators of the graph, to change them.
    fn __streamflow_shown_mut(made: &mut Self::Made) -> Self::Mut<'_>;
}

/// A node that is made, as edges see it.
pub trait MadeNode {
    /// The ports: a struct with a field for each port, or a reference to it.
    type Ports<'a>
    where
        Self: 'a;

    /// Returns the ports, to be connected.
    fn ports(&mut self) -> Self::Ports<'_>;
}

/// A node that can get a closure by which it makes its operator again, for `#[on_failure(restart(…))]`.
pub trait Restartable {
    /// The value that the closure makes.
    type Value;

    /// Sets the closure.
    fn restart_by(&mut self, again: OperatorFactory<Self::Value>);
}

/// A type of nodes that does not contain itself. A graph implements this trait if the types of its nodes do, so rustc finds a graph
/// that contains itself, also by way of others, and reports it at the type of the node.
pub trait NotMadeOfItself {}

#[diagnostic::do_not_recommend]
impl<O: Operator> NotMadeOfItself for O {}

/// A node's type whose hooks a scheduler can call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Compute`",
    label = "this operator has no `compute`",
    note = "write `impl Compute for {Self}`"
)]
pub trait RunsAsNode: NodeType {
    /// Appends the node to the list, or the nodes of the graph in the order in which they run.
    fn list<'a>(made: &'a mut Self::Made, list: &mut Vec<&'a mut dyn AnyNode>);
}

/// The value of a node that is a graph with ports, as `Preprocess::new` returns it. `graph!` implements this trait.
#[diagnostic::on_unimplemented(
    message = "a graph's harness runs a graph with ports, and `{Self}` is none",
    label = "this is no graph with ports",
    note = "pass the value that `new` of a graph with ports returns, as `Preprocess::new()`; `OperatorHarness` runs an operator, and a graph \
            without ports runs by its method `run`"
)]
pub trait GraphValue: Sized {
    /// The graph.
    type Graph: RunsAsNode<Value = Self, Made: 'static>;

    /// Visits the inputs and the outputs of the graph, in order of declaration.
    fn __streamflow_visit<V: VisitPorts>(
        ports: &mut <<Self::Graph as NodeType>::Made as MadeNode>::Ports<'_>,
        visitor: &mut V,
    );
}

impl<O: Operator> MadeNode for Box<Node<O>> {
    type Ports<'a>
        = &'a mut O::Ports
    where
        Self: 'a;

    fn ports(&mut self) -> &mut O::Ports {
        &mut self.parts.ports
    }
}

impl<O: Operator + 'static> Restartable for Box<Node<O>> {
    type Value = O;

    fn restart_by(&mut self, again: OperatorFactory<O>) {
        Node::restart_by(self, again);
    }
}

#[diagnostic::do_not_recommend]
impl<O: Operator> NodeType for O {
    const NAME: &'static str = <O as Operator>::NAME;
    const INPUTS: &'static [PortInfo] = <O as Operator>::INPUTS;
    const OUTPUTS: &'static [PortInfo] = <O as Operator>::OUTPUTS;
    const STREAMS: usize = <O as Operator>::STREAMS;
    const STAYS: bool = <O as Operator>::STAYS;
    const USES_POOL: bool =
        Self::STREAMS > 0 || carry_device_data(Self::INPUTS) || carry_device_data(Self::OUTPUTS);
    type Value = O;
    type Params = <O as Operator>::Params;
    type __Checked = <O as Operator>::__Checked;
    type __Node = <O as Operator>::__Node;
    type Made = Box<Node<O>>;
    type Shown<'a>
        = &'a O
    where
        Self: 'a;
    type Mut<'a>
        = &'a mut O
    where
        Self: 'a;
    type __Ports = O::Ports;

    fn __streamflow_make_node(
        value: O,
        made: &mut Option<Box<Node<O>>>,
        failed: &mut Option<Error>,
        name: &str,
        platform: &Platform,
        options: NodeOptions<'_>,
    ) -> bool {
        store_made(value.__streamflow_node(name, platform, options), made, failed)
    }

    fn __streamflow_shown(made: &Box<Node<O>>) -> &O {
        &made.parts.operator
    }

    fn __streamflow_shown_mut(made: &mut Box<Node<O>>) -> &mut O {
        &mut made.parts.operator
    }
}

#[diagnostic::do_not_recommend]
impl<O: Compute + Send + 'static> RunsAsNode for O {
    fn list<'a>(made: &'a mut Box<Node<O>>, list: &mut Vec<&'a mut dyn AnyNode>) {
        list.push(&mut **made);
    }
}

const fn carry_device_data(ports: &[PortInfo]) -> bool {
    let mut i = 0;
    while i < ports.len() {
        if ports[i].device {
            return true;
        }
        i += 1;
    }
    false
}

/// The value of a node of type `T`: the operator `T` itself, or what `new` of a graph with ports returns. A graph with a type parameter
/// takes such a value as a parameter: `struct Fuse<S: FrameSource>(source: New<S>)`.
pub type New<T> = <T as NodeType>::Value;

/// Returns the ports of a node, so that `graph!` can connect them.
pub fn ports<M: MadeNode>(made: &mut M) -> M::Ports<'_> {
    made.ports()
}

/// Appends a node to the list as schedulers see it, or the nodes of a graph. `graph!` names the type in the call, so rustc reports a
/// missing `compute` at that place.
pub fn list_nodes<'a, T: RunsAsNode>(made: &'a mut T::Made, list: &mut Vec<&'a mut dyn AnyNode>) {
    T::list(made, list);
}

/// Sets the closure by which the node makes fresh operators, for `#[on_failure(restart(…))]`. Returns whether `made` has a node.
#[must_use]
pub fn restarting<M: Restartable>(made: &mut Option<M>, again: OperatorFactory<M::Value>) -> bool {
    let Some(made) = made else { return false };
    made.restart_by(again);
    true
}
