//! Tests of single features of operators and graphs, and of the examples' graphs.
#![allow(missing_docs, reason = "a test binary")]

mod deployment;
mod example_graphs;
mod examples;
mod expressions;
mod feedback;
mod flush;
mod inspect;
mod managed_streams;
mod named_tensors;
mod on_stream;
mod operators;
mod parameters;
mod planned;
mod radar;
mod replay;
mod variants;

use std::process::ExitCode;

use streamflow_tests::Binary;

fn main() -> ExitCode {
    // The suites with the longest tests come first, so that no core waits for the last test.
    Binary::new()
        .suite("replay", replay::suite)
        .suite("flush", flush::suite)
        .suite("parameters", parameters::suite)
        .suite("deployment", deployment::suite)
        .suite("example_graphs", example_graphs::suite)
        .suite("examples", examples::suite)
        .suite("expressions", expressions::suite)
        .suite("feedback", feedback::suite)
        .suite("inspect", inspect::suite)
        .suite("managed_streams", managed_streams::suite)
        .suite("named_tensors", named_tensors::suite)
        .suite("on_stream", on_stream::suite)
        .suite("operators", operators::suite)
        .suite("planned", planned::suite)
        .suite("radar", radar::suite)
        .suite("variants", variants::suite)
        .run()
}
