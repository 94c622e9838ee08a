//! Tables and arrays of kernels with one body: each index is checked.

use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_table_is_read_at_any_index", lookup)
        .both("an_index_beyond_a_table_is_0_and_the_error_of_a_later_call", beyond)
        .both("a_table_may_be_empty", empty)
        .both("a_table_has_no_part_in_the_shape", shapes)
        .both("a_kernel_waits_for_the_work_on_its_table", ordered)
        .both("arrays_of_a_body_are_read_and_written", arrays)
        .both("an_index_beyond_an_array_has_its_line", beyond_arrays)
}

#[kernel(map)]
fn look_up(out: &mut f32, a: &u16, table: &[f32]) {
    *out = table[*a as usize];
}

fn lookup(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for len in [1_usize, 7, 40_000] {
        let values: Vec<f32> = (0..len).map(|i| i as f32 * 0.5 - 3.0).collect();
        let indices: Vec<u16> = (0..500).map(|i| (i * 7919 % len) as u16).collect();
        let a = uploaded(platform, &indices, &s)?;
        let mut out = uploaded(platform, &[f32::NAN; 500], &s)?;
        s.map::<look_up>((&mut out, &a, &uploaded(platform, &values, &s)?))?;
        let wanted: Vec<f32> = indices.iter().map(|i| values[usize::from(*i)]).collect();
        check_equal(s.download_blocking(&out)?, wanted.clone())?;
        let mut buffer = platform.buffer::<f32>(len, &s)?;
        s.upload_blocking(&values, &mut buffer)?;
        s.map::<look_up>((&mut out, &a, &buffer))?;
        check_equal(s.download_blocking(&out)?, wanted)?;
    }
    Ok(())
}

const LINE: u32 = line!() + 4;
/// The neighbour on the left: `i - 1` wraps for the first.
#[kernel(map)]
fn left(out: &mut i32, #[at] i: usize, factor: i32, table: &[i32]) {
    *out = factor * table[i - 1];
}

fn beyond(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let table = uploaded(platform, &[1, 2, 3, 4], &s)?;
    for (len, index) in [(3_usize, u64::MAX), (6, u64::MAX)] {
        let mut out = uploaded(platform, &vec![77; len], &s)?;
        s.map::<left>((&mut out, 10, &table))?;
        let found = check_error("an index", s.synchronize_blocking(), |error| {
            matches!(error, Error::IndexOutOfRange { length: 4, .. })
        })?;
        // Which of two mistakes is the first is open.
        let index = if found.contains("index 4 ") { 4 } else { index };
        let (file, text) =
            (file!(), format!("used index {index} of `table`, which has 4 elements"));
        check_text(&found, &["kernel `left`", &text, &format!("at {file}:{LINE};")])?;
        let wanted = [0, 10, 20, 30, 40, 0];
        check_equal(s.download_blocking(&out)?, wanted[..len].to_vec())?;
    }
    Ok(())
}

#[kernel(map)]
fn last(out: &mut i32, table: &[i32]) {
    *out = if table.len() == 0 { -5 } else { table[table.len() - 1] };
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[9, 9], &s)?;
    s.map::<last>((&mut out, &platform.buffer::<i32>(0, &s)?))?;
    check_equal(s.download_blocking(&out)?, vec![-5, -5])?;
    s.map::<last>((&mut out, &uploaded(platform, &[3, 8], &s)?))?;
    check_equal(s.download_blocking(&out)?, vec![8, 8])
}

#[kernel(map)]
fn by_row(out: &mut i32, #[at] [y, x]: [usize; 2], a: &i32, gains: &[i32], offsets: &[i32]) {
    *out = *a * gains[y] + offsets[x];
}

fn shapes(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a: Vec<i32> = (0..6).collect();
    let a = uploaded(platform, &a, &s)?.reshape([3, 2])?;
    let gains = uploaded(platform, &[10, 20, 30, 40, 50], &s)?;
    let offsets = uploaded(platform, &[1, 2], &s)?;
    let mut out = uploaded(platform, &[-1; 6], &s)?.reshape([2, 3])?;
    s.map::<by_row>((&mut out, a.view().transpose(), &gains, &offsets))
        .err()
        .map_or(Ok(()), |error| Err(Failed::msg(format!("three columns: {error}"))))?;
    // The third column has no offset.
    check_error("an index", s.synchronize_blocking(), |error| {
        error.to_string().contains("used index 2 of `offsets`, which has 2 elements")
    })?;
    check_equal(s.download_blocking(&out)?, vec![1, 22, 40, 21, 62, 100])
}

fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("TABLES", &CudaStreamPool::new())?;
    let (one, other) = (pool.allocate("one")?, pool.allocate("other")?);
    let a: Vec<u16> = (0..50_000).map(|i| (i % 1000) as u16).collect();
    let a = uploaded(platform, &a, &one)?;
    let mut table = platform.tensor::<f32>([1000], &one)?;
    let mut out = platform.tensor::<f32>([50_000], &other)?;
    for round in 0..20 {
        one.map::<fill>((&mut table, round as f32))?;
        other.map::<look_up>((&mut out, &a, &table))?;
        one.map::<fill>((&mut table, -1.0))?;
        let wanted = (0..50_000).map(|i| (i % 1000) as f32 + round as f32);
        check_equal(other.download_blocking(&out)?, wanted.collect())?;
    }
    Ok(())
}

#[kernel(map)]
fn fill(out: &mut f32, #[at] i: usize, by: f32) {
    *out = i as f32 + by;
}

const TAPS: [f32; 5] = [0.5, -1.0, 2.0, 0.25, 8.0];

/// The median of five neighbours, by sorting them, and their sum by weights.
#[kernel(map)]
fn median(out: &mut f32, sum: &mut f32, #[at] i: usize, a: &[f32]) {
    const N: usize = 5;
    let mut five = [0.0; N];
    for j in 0..five.len() {
        five[j] = a[(i + j) % a.len()];
    }
    let mut weighted = 0.0;
    for j in 0..N {
        weighted += five[j] * TAPS[j];
    }
    *sum = weighted + TAPS[TAPS.len() - 1];
    for j in 1..N {
        let mut k = j;
        while k > 0 && five[k - 1] > five[k] {
            let above = five[k];
            five[k] = five[k - 1];
            five[k - 1] = above;
            k -= 1;
        }
    }
    *out = five[2];
}

fn arrays(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values: Vec<f32> = (0..97).map(|i| (i * 37 % 97) as f32).collect();
    let mut out = uploaded(platform, &[f32::NAN; 97], &s)?;
    let mut sum = uploaded(platform, &[f32::NAN; 97], &s)?;
    s.map::<median>((&mut out, &mut sum, &uploaded(platform, &values, &s)?))?;
    let neighbours = |i: usize| -> Vec<f32> { (0..5).map(|j| values[(i + j) % 97]).collect() };
    let medians = (0..97).map(|i| {
        let mut five = neighbours(i);
        five.sort_by(f32::total_cmp);
        five[2]
    });
    check_equal(s.download_blocking(&out)?, medians.collect())?;
    let sums = (0..97)
        .map(|i| neighbours(i).iter().zip(TAPS).fold(0.0, |sum, (a, tap)| sum + a * tap) + 8.0);
    check_equal(s.download_blocking(&sum)?, sums.collect())
}

#[kernel_fn]
fn tap(i: u32) -> f32 {
    TAPS[i as usize]
}

const TAP_LINE: u32 = line!() + 4;

#[kernel(map)]
fn tapped(out: &mut f32, i: &u32) {
    *out = tap(*i);
}

const WRITTEN_LINE: u32 = line!() + 5;

#[kernel(map)]
fn written(out: &mut i32, i: &u32) {
    let mut own = [1, 2, 3];
    own[*i as usize] += 10;
    *out = own[0] + own[1] + own[2];
}

fn beyond_arrays(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let text = |index, len, line| {
        format!("used index {index} of an array, which has {len} elements, at {}:{line};", file!())
    };
    let i = uploaded(platform, &[0_u32, 4, 5], &s)?;
    let mut out = uploaded(platform, &[f32::NAN; 3], &s)?;
    s.map::<tapped>((&mut out, &i))?;
    check_error("a call", s.synchronize_blocking(), |error| {
        error.to_string().contains(&text(5, 5, TAP_LINE))
    })?;
    check_equal(s.download_blocking(&out)?, vec![0.5, 8.0, 0.0])?;
    let i = uploaded(platform, &[0_u32, 2, u32::MAX], &s)?;
    let mut out = uploaded(platform, &[0_i32; 3], &s)?;
    s.map::<written>((&mut out, &i))?;
    check_error("an assignment", s.synchronize_blocking(), |error| {
        error.to_string().contains(&text(u32::MAX, 3, WRITTEN_LINE))
    })?;
    check_equal(s.download_blocking(&out)?, vec![16, 16, 6])
}
