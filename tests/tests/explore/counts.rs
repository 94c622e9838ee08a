//! Tiny programs with states that are counted by hand.
//!
//! A stream's record is the smallest operation. When a program has submitted `s` operations to one stream and makes its
//! next call, 0 to `s` of them may be executed, so the program's states are the triangle of these pairs. The states of
//! two streams multiply.

use std::cell::RefCell;
use std::collections::BTreeSet;

use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow::testing::Explorer;
use streamflow_tests::{Failed, check};

fn streams(platform: &Platform, flags: StreamFlags) -> Result<[CudaStream; 2]> {
    let pool = platform.stream_pool("COUNTED", &CudaStreamPool::new().flags(flags))?;
    Ok([pool.allocate("a")?, pool.allocate("b")?])
}

fn record(stream: &CudaStream, times: usize) -> Result<()> {
    Ok((0..times).try_for_each(|_| stream.record().map(|_| ()))?)
}

/// The number of states before each of n submissions to one stream: 1 + 2 + … + n.
const fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

fn states(test: impl FnMut(&Platform) -> Result<()>) -> Result<usize, Failed> {
    let found = Explorer::new().run_exhaustively(test)?;
    found.check()?;
    found.states.ok_or_else(|| Failed::msg("no states were counted"))
}

fn is(found: usize, expected: usize, what: &dyn std::fmt::Debug) -> Result<(), Failed> {
    check(found == expected, || format!("{what:?}: {found} states, not {expected}"))
}

/// Checks n operations on one stream, then m on another, then a wait for both.
pub(crate) fn independent() -> Result<(), Failed> {
    for (n, m) in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 3), (5, 4), (7, 7)] {
        let found = states(|platform| {
            let [a, b] = streams(platform, StreamFlags::NonBlocking)?;
            record(&a, n)?;
            record(&b, m)?;
            a.synchronize_blocking()?;
            Ok(b.synchronize_blocking()?)
        })?;
        // While the program submits to `a`, `b` is empty. While it submits to `b`, `a` may have executed any number of
        // operations. After that, both may have executed any number.
        let expected = triangle(n) + (n + 1) * triangle(m) + (n + 1) * (m + 1);
        is(found, expected, &(n, m))?;
    }
    Ok(())
}

/// Checks n operations on `a`, and m operations on `b` that wait for the last one of `a`: `b` can't start before
/// `a` is complete.
pub(crate) fn edge() -> Result<(), Failed> {
    for (n, m) in [(1, 1), (3, 2), (4, 5)] {
        let found = states(|platform| {
            let [a, b] = streams(platform, StreamFlags::NonBlocking)?;
            record(&a, n - 1)?;
            b.wait(a.record()?)?;
            record(&b, m)?;
            a.synchronize_blocking()?;
            Ok(b.synchronize_blocking()?)
        })?;
        // Stream `b` has m + 1 operations with its wait, and none of them is executed before `a` is complete.
        let b_submits = (1..=m + 1).map(|submitted| n + submitted).sum::<usize>();
        let expected = triangle(n) + b_submits + n + (m + 2);
        is(found, expected, &(n, m))?;
    }
    Ok(())
}

/// Checks that work of the legacy default stream waits for the older work of a blocking stream.
pub(crate) fn default_stream() -> Result<(), Failed> {
    for (flags, n, m) in [
        (StreamFlags::Blocking, 3, 2),
        (StreamFlags::Blocking, 2, 4),
        (StreamFlags::NonBlocking, 3, 2),
    ] {
        let found = states(|platform| {
            let [a, _] = streams(platform, flags)?;
            let default = platform.default_stream(device(0))?;
            record(&a, n)?;
            record(&default, m)?;
            a.synchronize_blocking()?;
            Ok(default.synchronize_blocking()?)
        })?;
        let free = triangle(n) + (n + 1) * triangle(m) + (n + 1) * (m + 1);
        // The states are counted as for `edge`, with the wait at the first operation.
        let ordered = triangle(n) + (0..m).map(|it| n + it + 1).sum::<usize>() + n + (m + 1);
        let expected = if flags == StreamFlags::Blocking { ordered } else { free };
        is(found, expected, &(flags, n, m))?;
    }
    Ok(())
}

/// Checks n operations, one query, and then a wait for the stream.
pub(crate) fn query() -> Result<(), Failed> {
    for n in [0, 1, 4] {
        let answers = RefCell::new(BTreeSet::new());
        let found = states(|platform| {
            let [a, _] = streams(platform, StreamFlags::NonBlocking)?;
            record(&a, n)?;
            answers.borrow_mut().insert(a.is_complete()?);
            Ok(a.synchronize_blocking()?)
        })?;
        // At the query, 0 to n operations are executed. After the answer `false` it is 0 to n again, since the stream
        // may have gone on by then; after `true` it is n.
        let expected = triangle(n) + (n + 1) + if n == 0 { 0 } else { n + 1 } + 1;
        is(found, expected, &n)?;
        let both = if n == 0 { [true].into() } else { [false, true].into() };
        check(answers.borrow().eq(&both), || format!("{n}: {answers:?}"))?;
    }
    Ok(())
}

/// Checks that the number of queries of a polling loop makes no new state, whether the loop ends at once or
/// later.
pub(crate) fn polling() -> Result<(), Failed> {
    let n = 4;
    let queries = RefCell::new(BTreeSet::new());
    let found = states(|platform| {
        let [a, _] = streams(platform, StreamFlags::NonBlocking)?;
        record(&a, n)?;
        let mut times = 0;
        while !a.is_complete()? {
            times += 1;
        }
        queries.borrow_mut().insert(times);
        Ok(())
    })?;
    let queries = queries.into_inner();
    let (first, last) = (queries.first().copied(), queries.last().copied());
    check(first == Some(0) && last > Some(0) && last <= Some(n), || format!("{queries:?}"))?;
    // The states before the first query; those before and after a further operation that follows an answer `false`;
    // and the end.
    is(found, triangle(n) + (n + 1) + 2 * n + 2, &n)
}

/// Queries two streams in turn, and checks that either one is found complete first, or both at once.
pub(crate) fn two_queries() -> Result<(), Failed> {
    let seen = RefCell::new(BTreeSet::new());
    states(|platform| {
        let [a, b] = streams(platform, StreamFlags::NonBlocking)?;
        record(&a, 2)?;
        record(&b, 2)?;
        let mut first = (a.is_complete()?, b.is_complete()?);
        while first == (false, false) {
            first = (a.is_complete()?, b.is_complete()?);
        }
        seen.borrow_mut().insert(first);
        Ok(())
    })?;
    let seen = seen.into_inner();
    check(seen == [(true, false), (false, true), (true, true)].into(), || format!("{seen:?}"))
}
