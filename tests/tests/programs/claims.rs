//! A control: random programs show each claim of the libraries' calls that is left out.

use std::cell::Cell;

use streamflow::driver::AccessMode;
use streamflow_tests::layers::mutate::take_claims_by;
use streamflow_tests::{Failed, check};

use super::program::{Fault, Program, RunMode, attempt};

/// The function and the argument of a claim.
type Claim = (&'static str, &'static str);

/// Each claim of the calls that programs make, without the work areas: `mutation` leaves those out.
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

/// How many programs are tried for each claim.
const PROGRAMS: u64 = 100;

thread_local! {
    static LEFT_OUT: Cell<Option<Claim>> = const { Cell::new(None) };
}

fn taken(function: &'static str, argument: &'static str, mode: AccessMode) -> Option<AccessMode> {
    (LEFT_OUT.get() != Some((function, argument))).then_some(mode)
}

/// Leaves each claim out in turn. Release builds have no claims that can be left out.
pub(crate) fn each_is_needed() -> Result<(), Failed> {
    if !take_claims_by(taken) {
        return Ok(());
    }
    let programs: Vec<_> = (0..PROGRAMS)
        .map(|seed| (seed, Program::of_seed(seed)))
        .filter(|(_, program)| program.threads.is_none())
        .collect();
    for claim in CLAIMS {
        let fails = |(seed, program): &(u64, Program)| {
            let mode = |checked| RunMode { seed: *seed, checked, turns: false };
            [true, false].into_iter().find_map(|checked| attempt(program, mode(checked)))
        };
        LEFT_OUT.set(Some(claim));
        let found = programs.iter().find_map(fails);
        LEFT_OUT.set(None);
        check(matches!(found, Some(Fault::Race(_) | Fault::Wrong(_))), || {
            format!("no program shows that {claim:?} is left out: {found:?}")
        })?;
    }
    Ok(())
}
