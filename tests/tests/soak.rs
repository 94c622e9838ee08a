//! A short form of the soak, `cargo bench -p streamflow-tests --bench soak`: no message is lost without a trace, and a
//! seed repeats a run.

use streamflow_tests::{Failed, Suite, check, check_equal, soak};

pub(crate) fn suite() -> Suite {
    Suite::new().seeded("a_long_run_loses_no_message_and_a_seed_repeats_it", short)
}

fn short(seed: u64) -> Result<(), Failed> {
    let (first, second) = (soak::run(seed, 3_000)?, soak::run(seed, 3_000)?);
    check(first.failures > 50, || format!("inconclusive: {first:?}"))?;
    check_equal(&first, &second)?;
    let other = soak::run(seed + 1000, 3_000)?;
    check(other.digest != first.digest, || "the seed decides nothing".into())
}
