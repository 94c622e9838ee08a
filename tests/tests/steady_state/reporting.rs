//! Law 12 for kernels that report wrong indices, launched with more grids than a thread remembers.

use streamflow::prelude::*;
use streamflow_tests::allocations::count;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, check_equal};

/// More than the places of a thread for launches that it has checked.
const GRIDS: usize = 600;

#[kernel(map)]
fn look_up(out: &mut u32, index: &u32, table: &[u32]) {
    *out = table[*index as usize];
}

pub(super) fn many_grids(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let table = uploaded(platform, &[7, 8, 9], &s)?;
    let index = uploaded(platform, &[2_u32], &s)?;
    let mut outs = Vec::with_capacity(GRIDS);
    for len in 1..=GRIDS {
        outs.push(platform.tensor::<u32>([len], &s)?);
    }
    let mut launch = || -> Result<()> {
        for out in &mut outs {
            s.map::<look_up>((out, &index, &table))?;
            s.synchronize_blocking()?;
        }
        Ok(())
    };
    for _ in 0..3 {
        launch()?;
    }
    let (allocations, done) = count(launch);
    done?;
    check_equal(allocations, 0)
}
