//! The CudaStreamPool example's application has the same data in each tick. So memory that is read too early has the right
//! data already, unless it is new: only few orders show that its last node's query or wait is missing.
//!
//! Plans have the same nodes and edges, and data that differs from tick to tick: in one the last node waits for its
//! message's work, and in the other it reads a download one tick later, or when it stops. The data of one must show it.

use std::sync::Arc;

use streamflow_tests::layers::mutate::Dependency;

use super::graphs;
use super::plan::Plan;
use super::runs::{Mutation, Subject};

/// The application's nodes, in the order of the plan's nodes.
const NODES: [&str; 4] = ["source1", "source2", "combine_and_sum", "rx"];

/// Checks that the same dependency, dropped in the two plans, shows in the data of one of them.
pub(crate) fn in_other_forms(
    subject: &Subject,
    mutation: &Mutation,
) -> Option<([Plan; 2], Mutation)> {
    let (Subject::CudaStreamApp, Mutation::Dependency(dependency)) = (subject, mutation) else {
        return None;
    };
    let renamed = |text: &Arc<str>| {
        let names = NODES.iter().enumerate();
        let text = names
            .fold(text.to_string(), |text, (index, name)| text.replace(name, &index.to_string()));
        Arc::<str>::from(text)
    };
    let Dependency { kind, place, stream, on, nth } = dependency;
    let (place, stream, on) = (renamed(place), renamed(stream), on.as_ref().map(renamed));
    let dependency = Dependency { kind: *kind, place, stream, on, nth: *nth };
    Some((graphs::forms_of_the_application(), Mutation::Dependency(dependency)))
}
