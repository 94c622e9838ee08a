//! Arrays of nodes: `[T; N]` is a type of nodes if `T` is. Each element is a node of its own, and its name is `cameras[3]`.

use super::any_node::AnyNode;
use super::condition::Conditions;
use super::declaration::Declaration;
use super::node_type::{MadeNode, NodeType, NotMadeOfItself, RunsAsNode};
use super::options::NodeOptions;
use crate::error::{Error, Failure};
use crate::platform::Platform;
use crate::port::PortInfo;

/// The values of an array's `N` nodes.
pub struct ArrayValues<V, const N: usize>(Vec<ArrayValue<V>>);

/// The value of one element: its operator, or the parameters of a graph, with the conditions of the element.
pub struct ArrayValue<V> {
    /// The value.
    pub value: V,
    /// `#[when(count(n))]`: how many ticks the node does in a run.
    pub count: Option<u64>,
    /// The conditions of `#[when(…)]` other than `count`.
    pub conditions: Option<Conditions>,
}

/// Calls a function of the user's code for each index of an array, in order.
///
/// # Errors
/// The first error of the function.
pub fn array_values<V, const N: usize>(
    make: impl FnMut(usize) -> Result<ArrayValue<V>, Failure>,
) -> Result<ArrayValues<V, N>, Failure> {
    (0..N).map(make).collect::<Result<_, _>>().map(ArrayValues)
}

#[diagnostic::do_not_recommend]
impl<T: NodeType, const N: usize> NodeType for [T; N] {
    const NAME: &'static str = T::NAME;
    const INPUTS: &'static [PortInfo] = T::INPUTS;
    const OUTPUTS: &'static [PortInfo] = T::OUTPUTS;
    const STREAMS: usize = N * T::STREAMS;
    const OWN_STREAMS: usize = N * T::OWN_STREAMS;
    const STAYS: bool = T::STAYS;
    const USES_POOL: bool = T::USES_POOL;
    const GOES_ON: bool = T::GOES_ON;
    const IS_GRAPH: bool = T::IS_GRAPH;
    const CHECKED: () = T::CHECKED;
    type Value = ArrayValues<T::Value, N>;
    type Params = T::Params;
    type __Checked = Self;
    type __Node = Vec<T::__Node>;
    type Made = Vec<T::Made>;
    type Shown<'a>
        = Vec<T::Shown<'a>>
    where
        Self: 'a;
    type Mut<'a>
        = Vec<T::Mut<'a>>
    where
        Self: 'a;
    type __Ports = T::__Ports;

    fn __streamflow_make_node(
        ArrayValues(values): ArrayValues<T::Value, N>,
        made: &mut Option<Vec<T::Made>>,
        failed: &mut Option<Error>,
        name: &str,
        platform: &Platform,
        options: NodeOptions<'_>,
    ) -> bool {
        let mut nodes = Vec::with_capacity(N);
        for (index, ArrayValue { value, count, conditions }) in values.into_iter().enumerate() {
            let options = NodeOptions { count, conditions, ..options.of_element() };
            let (name, mut node) = (format!("{name}[{index}]"), None);
            if !T::__streamflow_make_node(value, &mut node, failed, &name, platform, options) {
                return false;
            }
            nodes.extend(node);
        }
        *made = Some(nodes);
        true
    }

    fn __streamflow_declaration() -> Option<Declaration> {
        T::__streamflow_declaration()
    }

    fn __streamflow_shown(made: &Vec<T::Made>) -> Vec<T::Shown<'_>> {
        made.iter().map(T::__streamflow_shown).collect()
    }

    fn __streamflow_shown_mut(made: &mut Vec<T::Made>) -> Vec<T::Mut<'_>> {
        made.iter_mut().map(T::__streamflow_shown_mut).collect()
    }
}

impl<M: MadeNode> MadeNode for Vec<M> {
    type Ports<'a>
        = Vec<M::Ports<'a>>
    where
        Self: 'a;

    fn ports(&mut self) -> Vec<M::Ports<'_>> {
        self.iter_mut().map(M::ports).collect()
    }
}

#[diagnostic::do_not_recommend]
impl<T: NotMadeOfItself, const N: usize> NotMadeOfItself for [T; N] {}

#[diagnostic::do_not_recommend]
impl<T: RunsAsNode, const N: usize> RunsAsNode for [T; N] {
    fn list<'a>(made: &'a mut Vec<T::Made>, list: &mut Vec<&'a mut dyn AnyNode>) {
        for node in made {
            T::list(node, list);
        }
    }
}
