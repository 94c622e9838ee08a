//! Copies of rows, which do not access the gaps between the rows.

use streamflow_driver::driver::{CopyRows, DriverResult};
use streamflow_tests::foreign::{Bare, part};

use super::{STREAM, two};

/// Returns a copy of some columns of 60 rows, from an array with rows of 32 bytes to an array with rows of 64
/// bytes.
fn columns(bytes: u64) -> CopyRows {
    CopyRows { bytes, count: 60, source_pitch: 32, target_pitch: 64, target_is_padded: false }
}

/// Two streams write columns of one allocation: the first `last` columns, and those from column 16 on.
fn both_write(bare: &Bare, last: u64, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let (source, target) = (bare.allocate(a)?, bare.allocate(a)?);
    bare.write(a, source)?;
    bare.order(a, b, true)?;
    bare.copy_rows(a, source, target, columns(last))?;
    bare.order(a, b, dependency)?;
    bare.copy_rows(b, source, part(target, 16, target.bytes), columns(20))
}

pub(super) fn overlapping(bare: &Bare, dependency: bool) -> DriverResult<()> {
    both_write(bare, 17, dependency)
}

/// Checks columns that do not overlap. There is no race although nothing orders the two streams.
pub(super) fn disjoint(bare: &Bare, _: bool) -> DriverResult<()> {
    both_write(bare, 16, false)
}

/// One stream reads columns, and another stream overwrites a part of them.
pub(super) fn read(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let (source, target) = (bare.allocate(a)?, bare.allocate(a)?);
    bare.write(a, source)?;
    bare.order(a, b, true)?;
    bare.copy_rows(a, source, target, columns(20))?;
    // The gap after the first row is not read, so this write is no race.
    bare.write(b, part(source, 20, 32))?;
    bare.order(a, b, dependency)?;
    bare.write(b, part(source, 19, 32))
}

/// A byte between two rows is read, although it was never written.
pub(super) fn gap(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let (source, target) = (bare.allocate(a)?, bare.allocate(a)?);
    bare.write(a, source)?;
    bare.copy_rows(a, source, target, columns(20))?;
    bare.read(a, part(target, 64, 84 + u64::from(!dependency)))
}

/// Checks that padding between rows counts as written with the rows.
pub(super) fn padding(bare: &Bare, _: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let (source, target) = (bare.allocate(a)?, bare.allocate(a)?);
    bare.write(a, source)?;
    bare.copy_rows(a, source, target, CopyRows { target_is_padded: true, ..columns(20) })?;
    bare.read(a, part(target, 0, 59 * 64 + 20))
}
