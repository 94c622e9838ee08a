//! Graphs whose pools, partitions, devices and default stream are values of the run: arguments of the graph's
//! `new`.

use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_driver::driver::{Call, StreamLabel};
use streamflow_examples::seed_app;
use streamflow_examples::seed_graph::CudaStreamApp;
use streamflow_tests::seen::{report, take};
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::{Camera, Cast, Show};
use streamflow_tests::{Failed, Suite, check, check_close, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_pool_has_the_size_that_the_graph_was_given", sizes)
        .both("a_wrong_value_is_an_error_of_new_in_the_words_of_a_constant", wrong_values)
        .both("partitions_come_from_the_graphs_parameters", partitions)
        .both("wrong_partitions_are_an_error_of_new", wrong_partitions)
        .both("an_error_in_the_value_of_a_pool_is_an_error_of_new", wrong_file)
        .both("one_graph_works_on_its_pool_or_on_the_default_stream", switch)
        .both("a_pool_of_the_default_stream_gives_that_stream", live_default)
        .devices("devices_come_from_the_graphs_parameters", 2, devices)
        .devices("an_edge_between_devices_is_an_error_of_new", 2, no_transfer)
}

graph! {
    #[derive(Debug)]
    struct Stereo(streams: u32, reserved: u32) {
        let STREAMS = CudaStreamPool::new().max_size(streams).reserved_size(reserved);

        #[streams(STREAMS)] #[when(count(3))]
        let left: Camera = Camera::new(2, 3);
        #[streams(STREAMS)]
        let cast: Cast = Cast::new();
        #[streams(STREAMS)]
        let show: Show = Show::new(Vec::new());

        left.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn sizes(platform: &Platform) -> Result<(), Failed> {
    for (streams, reserved) in [(3, 0), (3, 3), (100, 1)] {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        // The platform has made streams of its own, which are not counted.
        recorder.clear();
        let mut graph = Stereo::new(&platform, streams, reserved)?;
        let made = recorder.count(|call| matches!(call, Call::CreateStream { .. }));
        check_equal(made, reserved as usize)?;
        graph.run()?;
        check_equal(graph.show().seen().len(), 3)?;
    }
    Ok(())
}

fn is_about_a_pool(error: &Error) -> bool {
    matches!(error, Error::PoolDescription { pool, .. } if pool == "STREAMS")
}

/// Checks that wrong values have the error texts of `ui/pools/too_small.stderr` and
/// `ui/pools/reserves_too_much.stderr`.
fn wrong_values(platform: &Platform) -> Result<(), Failed> {
    let text = check_error("too small", Stereo::new(platform, 2, 0), is_about_a_pool)?;
    check_equal(
        &*text,
        "stream pool `STREAMS` is too small: it holds 2 streams, but its operators declare 3: `left` 1, `cast` 1, \
         `show` 1; give it `max_size(3)`, or no maximum",
    )?;
    let text = check_error("reserves", Stereo::new(platform, 3, 5), is_about_a_pool)?;
    check_equal(
        &*text,
        "stream pool `STREAMS` reserves 5 streams, but holds 3; raise `max_size`, or lower `reserved_size`",
    )?;
    let most = CudaStreamPool::MOST_RESERVED;
    let text = check_error("too many", Stereo::new(platform, most + 1, most + 1), is_about_a_pool)?;
    check_text(&text, &["`STREAMS` reserves 1025 streams", "`reserved_size` at most 1024"])?;
    let text = check_error("none", Stereo::new(platform, 0, 0), is_about_a_pool)?;
    check_text(&text, &["`STREAMS` holds no stream", "`max_size` at least 1"])?;
    // The same description of a pool is also refused outside of a graph.
    let wrong = CudaStreamPool::new().max_size(3).reserved_size(5);
    let made = platform.stream_pool("STREAMS", &wrong);
    let text = check_error("stream_pool", made, is_about_a_pool)?;
    check_text(&text, &["`STREAMS` reserves 5 streams, but holds 3"])
}

graph! {
    #[green_contexts(GREEN)]
    #[derive(Debug)]
    struct Divided(sizes: Vec<u32>, index: usize, smallest: u32) {
        let GREEN =
            CudaGreenContextPool::new().sms_per_partition(&sizes).min_sm_size(smallest);
        let STREAMS = CudaStreamPool::new().on(GREEN.context(index)).max_size(2);

        #[streams(STREAMS)] #[when(count(3))]
        let left: Camera = Camera::new(2, 3);
        #[streams(STREAMS)]
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());

        left.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn partitions(platform: &Platform) -> Result<(), Failed> {
    for (sizes, index) in [(vec![8], 0), (vec![8, 16], 1), (vec![8, 16], 0)] {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        let mut graph = Divided::new(&platform, sizes.clone(), index, 8)?;
        graph.run()?;
        check_equal(graph.show().seen().len(), 3)?;
        let divided = |call: &Call| matches!(call, Call::CreateGreenContexts { .. });
        check_equal(recorder.count(divided), 1)?;
        let pool = CudaGreenContextPool::new().sms_per_partition(&sizes);
        let wanted = platform.green_contexts(&pool)?.partitions()[index].multiprocessors();
        check_equal(wanted, sizes[index])?;
        check_equal(recorder.count(divided), 1)?;
    }
    Ok(())
}

fn wrong_partitions(platform: &Platform) -> Result<(), Failed> {
    let made = Divided::new(platform, vec![8, 12], 0, 8);
    let is_green =
        |error: &Error| matches!(error, Error::PoolDescription { pool, .. } if pool == "GREEN");
    let text = check_error("size", made, is_green)?;
    check_equal(
        &*text,
        "green context pool `GREEN` has a partition of 12 multiprocessors, which is no multiple of `min_sm_size(8)`; \
         round it up",
    )?;
    let made = Divided::new(platform, vec![8, 8], 2, 8);
    let text = check_error("index", made, is_about_a_pool)?;
    check_text(&text, &["`STREAMS`", "partition 2", "`sms_per_partition` has 2", "from 0"])?;
    let text = check_error("zero", Divided::new(platform, vec![0], 0, 8), is_green)?;
    check_text(&text, &["`GREEN`", "0 multiprocessors"])?;
    check_error("none", Divided::new(platform, vec![8], 0, 0), is_green).map(drop)
}

graph! {
    struct FromFile(file: String) {
        let STREAMS = CudaStreamPool::new().max_size(file.trim().parse()?);

        #[streams(STREAMS)] #[when(count(1))]
        let left: Camera = Camera::new(2, 3);
        left.frame >> _;
    }
}

fn wrong_file(platform: &Platform) -> Result<(), Failed> {
    FromFile::new(platform, " 1\n".to_owned())?.run()?;
    let made = FromFile::new(platform, "many".to_owned()).map(drop);
    let text = check_error("parse", made, |_| true)?;
    check_text(&text, &["invalid digit"])
}

/// Checks that the results are the same on the default stream, where no stream waits, and on a pool, where each
/// operator has its own stream.
fn switch(platform: &Platform) -> Result<(), Failed> {
    const COUNT: u64 = 4;
    let (rows, cols) = (7, 129);
    let expected = seed_app::reference(rows, cols);
    for on_default in [false, true] {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        let (seen, report) = report();
        CudaStreamApp::new(&platform, rows, cols, COUNT, on_default, report)?.run()?;
        let seen = take(&seen);
        check_equal(seen.len() as u64, COUNT)?;
        for (_, sums) in &seen {
            check_close(sums, &expected, |x| seed_app::tolerance(cols) * x)?;
        }
        let launches = |default: bool| {
            recorder.count(|call| match call {
                Call::Launch { stream, .. } => matches!(stream, StreamLabel::Default(_)) == default,
                _ => false,
            })
        };
        let (by_flag, others) = (launches(on_default), launches(!on_default));
        check_equal((by_flag, others), (3 * COUNT as usize, 0))?;
        // Waits of the library's own stream don't count: that stream may wait to wake a run that sleeps.
        let waits = recorder.count(|call| match call {
            Call::WaitEvent { stream, .. } => {
                matches!(stream, StreamLabel::Default(_)) == on_default
            }
            _ => false,
        });
        check((waits == 0) == on_default, || format!("{waits} waits"))?;
    }
    Ok(())
}

fn live_default(platform: &Platform) -> Result<(), Failed> {
    let description = CudaStreamPool::new().max_size(1).reserved_size(1).use_default_stream(true);
    let pool = platform.stream_pool("DEFAULT", &description)?;
    let (one, two) = (pool.allocate("one")?, pool.allocate("two")?);
    let default = platform.default_stream(device(0))?;
    check(one.raw() == default.raw() && two.raw() == default.raw(), || format!("{one:?}"))?;
    check_equal(pool.in_use(), 0)?;
    let green = CudaGreenContextPool::new().sms_per_partition(&[8]).context(0);
    let made = platform.stream_pool("STREAMS", &description.on(green));
    let text = check_error("green", made, is_about_a_pool)?;
    check_text(&text, &["`STREAMS`", "green context", "`use_default_stream`"])
}

graph! {
    /// A graph whose consumer is on the second device, if there is one.
    struct Deployed(far: u32) {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        let FAR = CudaStreamPool::new().device(device(far));

        #[streams(NEAR)] #[when(count(3))]
        let left: Camera = Camera::new(2, 3);
        #[streams(FAR)]
        let cast: Cast = Cast::new();
        #[streams(FAR)]
        let show: Show = Show::new(Vec::new());

        #[transfer]
        left.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn devices(platform: &Platform) -> Result<(), Failed> {
    let mut seen = Vec::new();
    for far in [0, 1] {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        recorder.clear();
        let mut graph = Deployed::new(&platform, far)?;
        graph.run()?;
        seen.push(graph.show().seen().to_vec());
        let made =
            |call: &Call| matches!(call, Call::CreateStream { device, .. } if device.index() == 1);
        check((recorder.count(made) > 0) == (far == 1), || recorder.text())?;
    }
    check_equal(seen[0].len(), 3)?;
    check(seen[0] == seen[1], || format!("{seen:?}"))?;
    let missing = Deployed::new(platform, 99).map(drop);
    let is_right = |error: &Error| matches!(error, Error::NoSuchDevice { .. });
    let text = check_error("missing", missing, is_right)?;
    check_text(&text, &["`FAR`", "device 99"])
}

graph! {
    #[derive(Debug)]
    struct NoTransfer(far: u32) {
        let FAR = CudaStreamPool::new().device(device(far));

        #[when(count(1))]
        let left: Camera = Camera::new(2, 3);
        #[streams(FAR)]
        let cast: Cast = Cast::new();
        left.frame >> cast.src;
        cast.dst >> _;
    }
}

/// Checks that the error has the words of `ui/edges/two_devices.stderr`.
fn no_transfer(platform: &Platform) -> Result<(), Failed> {
    NoTransfer::new(platform, 0)?.run()?;
    let is_right = |error: &Error| matches!(error, Error::EdgeDevices { edge, .. } if edge == "left.frame >> cast.src");
    let text = check_error("devices", NoTransfer::new(platform, 1), is_right)?;
    check_equal(
        &*text,
        "`left.frame` is on device 0, as every node without `#[streams(…)]`, but `cast.src` is on device 1; the data \
         must be copied between them: mark the edge `#[transfer]`",
    )
}
