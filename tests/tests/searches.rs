//! Random programs, explorations and mutations. Mistakes that do not compile are here, too, since rustc leaves a core idle for
//! most of their time.
#![allow(missing_docs, reason = "a test binary")]

mod bodies;
mod explore;
mod mistakes;
mod mutation;
mod programs;
mod random_ends;
mod soak;

use std::process::ExitCode;

use streamflow_tests::Binary;

fn main() -> ExitCode {
    // `explore` and `bodies` have tests that wait until a hang is found. `mutation` comes last, since its tests use
    // all cores by themselves.
    Binary::new()
        .waiting(2)
        .suite("mistakes", mistakes::suite)
        .suite("bodies", bodies::suite)
        .suite("explore", explore::suite)
        .suite("programs", programs::suite)
        .suite("random_ends", random_ends::suite)
        .suite("soak", soak::suite)
        .suite("mutation", mutation::suite)
        .children("bodies", bodies::in_child)
        .children("explore", explore::in_child)
        .run()
}
