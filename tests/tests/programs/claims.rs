//! A control: if a claim of a library's call is left out, random programs must show it.

use streamflow_tests::layers::mutate::{Claim, leave_claim_out};
use streamflow_tests::{Failed, check};

use super::program::{Fault, Program, RunMode, attempt};

/// Each claim of the calls that programs make, except those of work areas, which the test `mutation` leaves out.
const CLAIMS: [Claim; 8] = [
    ("cublasLtMatmul", "a"),
    ("cublasLtMatmul", "b"),
    ("cublasLtMatmul", "bias"),
    ("cublasLtMatmul", "c"),
    ("cufftExecR2C", "x"),
    ("cufftExecR2C", "y"),
    ("cufftExecC2R", "x"),
    ("cufftExecC2R", "y"),
];

/// The number of programs that are tried for each claim.
const PROGRAMS: u64 = 100;

/// Leaves each claim out in turn, in programs of all kinds.
pub(crate) fn each_is_needed() -> Result<Option<String>, Failed> {
    each_is_needed_in(Program::of_seed)
}

/// Leaves each claim out in turn, in graphs of graphs and of arrays.
pub(crate) fn each_is_needed_across_borders() -> Result<Option<String>, Failed> {
    each_is_needed_in(Program::nested)
}

fn each_is_needed_in(draw: fn(u64) -> Program) -> Result<Option<String>, Failed> {
    if !leave_claim_out(None) {
        return Ok(Some("claims are left out in builds with debug assertions alone".into()));
    }
    let programs: Vec<_> = (0..PROGRAMS)
        .map(|seed| (seed, draw(seed)))
        .filter(|(_, program)| !program.is_on_threads())
        .collect();
    for claim in CLAIMS {
        let fails = |(seed, program): &(u64, Program)| {
            let mode = |checked| RunMode { seed: *seed, checked, turns: false };
            [true, false].into_iter().find_map(|checked| attempt(program, mode(checked)))
        };
        leave_claim_out(Some(claim));
        let found = programs.iter().find_map(fails);
        leave_claim_out(None);
        check(matches!(found, Some(Fault::Race(_) | Fault::Wrong(_))), || {
            format!("no program shows that {claim:?} is left out: {found:?}")
        })?;
    }
    Ok(None)
}
