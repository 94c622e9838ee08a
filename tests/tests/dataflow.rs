//! Graphs that deliver data: tests of edges, streams, conditions and races. The suites run in each form.
#![allow(missing_docs, reason = "a test binary")]

mod branches;
mod conditions;
mod devices;
pub mod graphs;
mod ordering;
mod queues;
mod race;
mod race_page;
mod receive;
mod records;
mod seams;
mod subgraphs;
mod transfer_kinds;
mod transfer_operators;
mod transfers;

use std::process::ExitCode;

use streamflow_tests::Binary;
use streamflow_tests::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    Binary::new()
        .suite("branches", branches::suite)
        .suite("conditions", conditions::suite)
        .suite("devices", devices::suite)
        .suite("graphs", graphs::suite)
        .suite("ordering", ordering::suite)
        .suite("queues", queues::suite)
        .suite("race", race::suite)
        .suite("race_page", race_page::suite)
        .suite("receive", receive::suite)
        .suite("records", records::suite)
        .suite("seams", seams::suite)
        .suite("subgraphs", subgraphs::suite)
        .suite("transfer_kinds", transfer_kinds::suite)
        .suite("transfer_operators", transfer_operators::suite)
        .suite("transfers", transfers::suite)
        .children("conditions", conditions::in_child)
        .children("race", race::in_child)
        .run()
}
