//! Tests arrays with padded rows that cross the border to other code: the padding belongs to the other code, and no work of
//! streamflow reads or writes it.

use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::memory::dlpack::{Abi, Consumer};
use streamflow::memory::{After, PitchedTensor, Shape};
use streamflow::prelude::*;
use streamflow_tests::foreign::{
    ForeignStream, Outside, VALUE, columns_from_outside, from_outside, use_shared,
};
use streamflow_tests::kernels::{fill, scale_view, slow_fill};
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

const ROWS: usize = 5;
/// The elements from the start of a row to the start of the next one, which is no power of two.
const PITCH: usize = 13;
const COLS: usize = 6;
/// The strides of such rows, in bytes.
const STRIDES: [i64; 2] = [PITCH as i64 * 4, 4];
/// The value of what lies between the rows.
const BESIDE: f32 = -77.0;
const SLOW: u64 = 20_000_000;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("rows_are_read_and_written_without_what_is_between_them", without_the_padding)
        .both("a_picture_has_padded_rows_of_columns_and_channels", picture)
        .both("the_memory_ends_with_the_last_element", ends_with_the_last)
        .both("a_pitched_tensor_goes_out_and_comes_back", there_and_back)
        .both("host_memory_with_padded_rows_is_uploaded", uploaded_rows)
        .both("strides_that_are_no_rows_are_refused_with_both_sides", refused)
        .ordered("rows_come_after_the_stream_that_has_written_them", after_stream)
        .seeded("work_on_columns_is_no_race_with_work_on_those_beside_them", beside)
}

fn numbers(from: usize, len: usize) -> Vec<f32> {
    (from..from + len).map(|number| number as f32).collect()
}

/// A matrix whose elements are all [`BESIDE`].
fn matrix(platform: &Platform, s: &CudaStream) -> Result<Shared<Tensor<f32>>, Failed> {
    let mut whole = platform.tensor([ROWS, PITCH], s)?;
    s.launch::<fill>(whole.len(), (&mut whole, BESIDE))?;
    s.synchronize_blocking()?;
    Ok(Shared::new(whole))
}

/// The matrix must have the elements `first + 0, first + 1, …` in these columns, and [`BESIDE`] in the others.
fn check_matrix(
    s: &CudaStream,
    whole: &Shared<Tensor<f32>>,
    columns: std::ops::Range<usize>,
    first: usize,
) -> Result<(), Failed> {
    let mut wanted = vec![BESIDE; ROWS * PITCH];
    for at in 0..ROWS * columns.len() {
        let (row, col) = (at / columns.len(), at % columns.len());
        wanted[row * PITCH + columns.start + col] = (first + at) as f32;
    }
    check_equal(s.download_blocking(whole)?, wanted)
}

/// Copies, uploads and kernels write the columns of a wider matrix, and read them.
fn without_the_padding(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let whole = matrix(platform, &s)?;
    let columns = 3..3 + COLS;
    let address = use_shared(&whole, &s)?;
    let after = After::QueuedOn(&s);
    let mut rows = columns_from_outside(platform, (&whole, address), columns.clone(), after)?;
    check_equal(s.download_blocking(&rows)?, vec![BESIDE; ROWS * COLS])?;

    s.upload_blocking(&numbers(100, ROWS * COLS), &mut rows)?;
    check_equal(s.download_blocking(&rows)?, numbers(100, ROWS * COLS))?;
    check_matrix(&s, &whole, columns.clone(), 100)?;

    let dense = uploaded(platform, &numbers(200, ROWS * COLS), &s)?.reshape([ROWS, COLS])?;
    s.copy(&dense, &mut rows)?;
    s.synchronize_blocking()?;
    check_matrix(&s, &whole, columns.clone(), 200)?;

    s.launch::<scale_view<f32>>([COLS, ROWS], (rows.view_mut(), dense.view(), 1.5))?;
    let mut copy = platform.tensor([ROWS, COLS], &s)?;
    s.launch::<scale_view<f32>>([COLS, ROWS], (copy.view_mut(), rows.view(), 2.0))?;
    let wanted: Vec<f32> = numbers(200, ROWS * COLS).iter().map(|it| it * 3.0).collect();
    check_equal(s.download_blocking::<f32>(&copy)?, wanted)?;
    s.copy(&dense, &mut rows)?;
    s.synchronize_blocking()?;
    check_matrix(&s, &whole, columns, 200)?;

    check_error("a fill", s.fill_bytes(&mut rows, 0), |error| {
        matches!(error, Error::Strided { .. })
    })
    .map(drop)
}

fn picture(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let step = 2 * 3 + 1;
    let memory = Outside::new(platform, 3 * step - 1)?;
    let strides = [step as i64 * 4, 12, 4];
    let mut rows = memory.adopt_rows(platform, [3, 2, 3], strides, After::Complete)?;
    check_equal((rows.pitch(), rows.row_count()), (step * 4, 6))?;
    s.upload_blocking(&numbers(0, 18), &mut rows)?;
    check_equal(
        s.download_blocking(&*rows.row(3).ok_or_else(|| Failed::msg("no row"))?)?,
        numbers(9, 3),
    )?;
    let part = rows.view().slice(0, 1..3).and_then(|it| it.slice(1, 1..2));
    let part = part.ok_or_else(|| Failed::msg("a part within the picture is an error"))?;
    let mut crop = platform.tensor([2, 1, 3], &s)?;
    s.copy(&part, &mut crop)?;
    check_equal(s.download_blocking::<f32>(&crop)?, vec![9.0, 10.0, 11.0, 15.0, 16.0, 17.0])
}

fn ends_with_the_last(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(on.driver().clone())?;
    let s = stream(&platform)?;
    let len = (ROWS - 1) * PITCH + COLS;
    let memory = Outside::new(&platform, len)?;
    let returned = memory.returned();
    let mut rows = memory.adopt_rows(&platform, [ROWS, COLS], STRIDES, After::Complete)?;
    s.upload_blocking(&numbers(0, ROWS * COLS), &mut rows)?;
    check_equal(s.download_blocking(&rows)?, numbers(0, ROWS * COLS))?;
    check(!returned.is_back(), || "the memory went back before its last use".into())?;
    drop(rows);
    let small = Outside::new(&platform, len - 1)?;
    let also = small.returned();
    let refused = small.adopt_rows(&platform, [ROWS, COLS], STRIDES, After::Complete);
    let error = refused.err().ok_or_else(|| Failed::msg("memory that is too small was taken"))?;
    let (needed, given) = (len * 4, len * 4 - 4);
    check(
        error.to_string().contains(&format!("has {needed} bytes, and the memory has {given}")),
        || error.to_string(),
    )?;
    drop((s, platform));
    check(returned.wait() && also.wait(), || "the memory did not go back".into())
}

fn there_and_back(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut rows = platform.pitched_tensor([ROWS, COLS], &s)?;
    s.upload_blocking(&numbers(0, ROWS * COLS), &mut rows)?;
    let pitch = (rows.pitch() / 4) as i64;
    let given = rows.into_dlpack(Abi::Versioned, Consumer::QueuesOn(&s))?;
    check_equal(given.strides().map(<[i64]>::to_vec), Some(vec![pitch, 1]))?;
    let back = platform.import_dlpack_pitched(from_outside(given)?, After::QueuedOn(&s))?;
    check_equal(s.download_blocking::<f32>(&back.into_shared())?, numbers(0, ROWS * COLS))
}

fn uploaded_rows(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let strides = Shape::new(&[ROWS, COLS])?.padded_strides::<f32>(&STRIDES)?;
    let mut host = vec![BESIDE; (ROWS - 1) * PITCH + COLS];
    for at in 0..ROWS * COLS {
        host[at / COLS * PITCH + at % COLS] = at as f32;
    }
    let mut dense = platform.tensor([ROWS, COLS], &s)?;
    s.upload_rows_blocking(&host, &strides, &mut dense)?;
    check_equal(s.download_blocking::<f32>(&dense)?, numbers(0, ROWS * COLS))?;
    let mut padded = platform.pitched_tensor([ROWS, COLS], &s)?;
    s.upload_rows_blocking(&host, &strides, &mut padded)?;
    check_equal(s.download_blocking::<f32>(&padded)?, numbers(0, ROWS * COLS))?;
    let short = s.upload_rows_blocking(&host[1..], &strides, &mut dense);
    check_error("host memory without the last element", short, |error| {
        matches!(error, Error::LengthMismatch { source_len: 57, target_len: 58, .. })
    })
    .map(drop)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    for (strides, text) in [
        (
            [20, 4],
            "[5, 1] for the shape [5, 6]: dimension 0 continues after 5 elements, and 6 are in",
        ),
        ([4, 20], "the elements of a row are 5 apart"),
        ([-52, 4], "the stride -13 of dimension 0 is negative"),
        (
            [54, 4],
            "its strides are [54, 4] bytes, and 54 is no multiple of the 4 bytes of a float32",
        ),
    ] {
        let memory = Outside::new(platform, ROWS * PITCH)?;
        let returned = memory.returned();
        let taken = memory.adopt_rows(platform, [ROWS, COLS], strides, After::Complete);
        let error =
            taken.err().ok_or_else(|| Failed::msg("strides that are no rows were taken"))?;
        check(error.to_string().contains(text), || error.to_string())?;
        check(returned.wait(), || "the memory did not go back".into())?;
    }
    Ok(())
}

/// The other code's stream writes the rows late.
fn after_stream(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (ours, theirs) = (stream(platform)?, foreign.borrow(platform)?);
    let mut slow = platform.buffer::<f32>(COLS, &theirs)?;
    let mut copy = platform.tensor::<f32>([ROWS, COLS], &ours)?;
    ours.launch::<fill>(copy.len(), (&mut copy, 0.0))?;
    theirs.launch::<slow_fill>(COLS, (&mut slow, 0.0, 0))?;
    ours.synchronize_blocking()?;
    theirs.synchronize_blocking()?;
    let mut memory = Outside::new(platform, ROWS * PITCH)?;
    theirs.launch::<slow_fill>(COLS, (&mut slow, 1.0, SLOW))?;
    memory.write(theirs.raw())?;
    let rows: PitchedTensor<f32> =
        memory.adopt_rows(platform, [ROWS, COLS], STRIDES, After::QueuedOn(&theirs))?;
    ours.copy(&rows, &mut copy)?;
    Ok(ours.download_blocking::<f32>(&copy)?.iter().all(|&found| found == VALUE))
}

/// Other code and two streams write the left and the right columns of one matrix, without an order. In the control the columns
/// have one in common.
fn beside(seed: u64) -> Result<(), Failed> {
    for (right, is_race) in [(COLS..PITCH, false), (COLS - 1..PITCH, true)] {
        let below: Arc<dyn Driver> = Arc::new(HostDriver::builder().seed(seed).build());
        let platform = Platform::builder().race_check(true).driver(below)?;
        let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
        let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
        let whole = matrix(&platform, &a)?;
        let address = use_shared(&whole, &a)?;
        b.wait(a.record()?)?;
        for (s, columns) in [(&a, 0..COLS), (&b, right)] {
            let grid = [columns.len(), ROWS];
            let mut ones = platform.tensor([ROWS, columns.len()], s)?;
            s.launch::<fill>(ones.len(), (&mut ones, 1.0))?;
            let after = After::QueuedOn(s);
            let mut rows = columns_from_outside(&platform, (&whole, address), columns, after)?;
            s.launch::<scale_view<f32>>(grid, (rows.view_mut(), ones.view(), 2.0))?;
            drop(rows.into_dlpack(Abi::Versioned, Consumer::QueuesOn(s))?);
        }
        a.synchronize_blocking()?;
        b.synchronize_blocking()?;
        let found = platform.take_races();
        check(found.is_empty() != is_race, || format!("a race is {is_race}: {found}"))?;
    }
    Ok(())
}
