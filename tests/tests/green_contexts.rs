//! Green contexts: sizes of partitions, the multiprocessors that kernels use, and order between partitions and the rest
//! of the device. Sizes are multiples of 8: every device of compute capability 7.0 or later supports these.

mod made;

use std::collections::BTreeSet;
use std::sync::Arc;

use streamflow::driver::DriverError;
use streamflow::driver::host::HostDriver;
use streamflow::prelude::*;
use streamflow::stream::{Coscheduling, CudaGreenContextPool};
use streamflow_driver::driver::Call;
use streamflow_driver::driver::GreenContext;
use streamflow_tests::kernels::{multiprocessor, slow_copy, slow_fill};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::{Camera, Cast, Show};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

const LEN: usize = 1003;
const SLOW: u64 = 20_000_000;

/// A division with two partitions. Its default context is the leftover.
const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 16]);
pub(crate) fn suite() -> Suite {
    made::add(Suite::new())
        .both("legal_sizes_are_queried_from_the_device", sizes)
        .both("coscheduling_decides_which_sizes_are_legal", coscheduling)
        .both("a_wrong_size_lists_the_legal_ones", wrong_sizes)
        .both("a_division_that_the_driver_rejects_lists_the_legal_sizes", refused)
        .both("a_missing_leftover_is_an_error", no_leftover)
        .both("kernels_run_only_on_their_partitions_multiprocessors", stays)
        .ordered("events_order_green_and_primary_streams", crossing)
        .both("nodes_of_a_graph_run_on_their_green_contexts", graph)
        .seeded("pools_and_graphs_share_one_division_of_a_device", once)
        .both("pools_with_another_default_share_a_division", another_default)
        .seeded("a_second_device_can_be_divided", second_device)
}

fn sizes(platform: &Platform) -> Result<(), Failed> {
    let total = platform.device_info(device(0))?.multiprocessors;
    for coscheduling in [Coscheduling::Kept, Coscheduling::Ignored] {
        let sizes = platform.sm_sizes(device(0), coscheduling)?;
        check(sizes.total == total && sizes.smallest >= 1, || format!("{sizes:?}"))?;
        let Some(second) = sizes.legal().nth(1) else { continue };
        check(second == sizes.smallest + sizes.step, || format!("{sizes:?}"))?;
    }
    let missing = platform.sm_sizes(device(99), Coscheduling::Kept);
    let is_right = |error: &Error| matches!(error, Error::NoSuchDevice { .. });
    check_error("sm_sizes", missing, is_right).map(drop)
}

/// Checks that the smallest size of each rule is legal under that rule, and under the other rule only if it is
/// legal there.
fn coscheduling(platform: &Platform) -> Result<(), Failed> {
    for rule in [Coscheduling::Kept, Coscheduling::Ignored] {
        let smallest = platform.sm_sizes(device(0), rule)?.smallest;
        for used in [Coscheduling::Kept, Coscheduling::Ignored] {
            let pool =
                CudaGreenContextPool::new().coscheduling(used).sms_per_partition(&[smallest]);
            let made = platform.green_contexts(&pool);
            if !platform.sm_sizes(device(0), used)?.is_legal(smallest) {
                check_error("the other rule", made, is_about_sizes)?;
                continue;
            }
            let part = made?.partitions()[0];
            check_equal((part.multiprocessors(), part.device()), (smallest, device(0)))?;
        }
    }
    Ok(())
}

fn is_about_sizes(error: &Error) -> bool {
    matches!(error, Error::GreenContexts { .. })
}

fn wrong_sizes(platform: &Platform) -> Result<(), Failed> {
    const ODD: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 9]);
    const HUGE: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[1 << 20, 8]);
    const MANY: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8; 64]);
    let sizes = platform.sm_sizes(device(0), Coscheduling::Kept)?;
    let legal: Vec<String> = sizes.legal().map(|size| size.to_string()).collect();
    if !sizes.is_legal(9) {
        let text = check_error("odd", platform.green_contexts(&ODD), is_about_sizes)?;
        check_text(&text, &["device 0", "[8, 9]", "9 is not one of its sizes", &legal.join(", ")])?;
    }
    let text = check_error("huge", platform.green_contexts(&HUGE), is_about_sizes)?;
    check_text(&text, &["1048576 is not", &legal.join(", ")])?;
    let text = check_error("many", platform.green_contexts(&MANY), is_about_sizes)?;
    let total = sizes.total.to_string();
    check_text(&text, &["their sum is 512", &total])?;
    let description = CudaStreamPool::new().on(MANY.context(0));
    let pool = platform.stream_pool("MANY", &description);
    check_error("stream_pool", pool, is_about_sizes).map(drop)
}

/// Checks a division whose sizes are legal but which the driver rejects. A second attempt succeeds.
fn refused(on: &Platform) -> Result<(), Failed> {
    let refuses = FailNth::new(on.driver().clone(), CallKind::CreateGreenContexts, 0);
    let platform = Platform::builder().driver(Arc::new(refuses))?;
    let sizes = platform.sm_sizes(device(0), Coscheduling::Kept)?;
    let legal: Vec<String> = sizes.legal().map(|size| size.to_string()).collect();
    let is_right = |error: &Error| match error {
        Error::GreenContexts { cause, .. } => {
            matches!(cause.as_deref(), Some(DriverError::Call { .. }))
        }
        _ => false,
    };
    let text = check_error("refused", platform.green_contexts(&GREEN), is_right)?;
    check_text(&text, &["device 0", "[8, 16]", &legal.join(", "), "INJECTED"])?;
    let parts = platform.green_contexts(&GREEN)?.partitions().len();
    check(parts == 2, || format!("{parts} partitions"))
}

fn no_leftover(platform: &Platform) -> Result<(), Failed> {
    let sizes = platform.sm_sizes(device(0), Coscheduling::Kept)?;
    let all: &'static [u32] = match sizes.total {
        32 => &[32],
        64 => &[64],
        128 => &[128],
        // A device with this rule has a leftover beside every partition of a legal size.
        _ => return Ok(()),
    };
    let pool = CudaGreenContextPool::new().sms_per_partition(all);
    let description = CudaStreamPool::new().on(pool.leftover());
    let made = platform.stream_pool("LEFT", &description);
    let text = check_error("leftover", made, is_about_sizes)?;
    check_text(&text, &["they leave no leftover"])?;
    // Without a leftover, the default context is the last partition.
    let stream = platform
        .stream_pool("LAST", &CudaStreamPool::new().on(pool.default_context()))?
        .allocate("user")?;
    let has = stream.green_context().map(GreenContext::multiprocessors);
    check(has == Some(all[0]), || format!("{has:?}"))
}

fn stays(platform: &Platform) -> Result<(), Failed> {
    let mut seen = Vec::new();
    for context in [GREEN.context(0), GREEN.context(1), GREEN.leftover()] {
        let pool = platform.stream_pool("ON", &CudaStreamPool::new().on(context))?;
        let stream = pool.allocate("user")?;
        let mut numbers = platform.buffer(256 * 1024, &stream)?;
        stream.launch::<multiprocessor>(numbers.len(), (&mut numbers, 20_000))?;
        let numbers: BTreeSet<u32> = stream.download_blocking(&numbers)?.into_iter().collect();
        let has = stream.green_context().map_or(0, GreenContext::multiprocessors) as usize;
        check(numbers.len() <= has, || format!("{numbers:?} are more than {has}"))?;
        seen.push(numbers);
    }
    if platform.name() == "cuda" {
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            check(seen[one].is_disjoint(&seen[other]), || format!("{seen:?}"))?;
        }
    }
    Ok(())
}

/// Checks a slow write on one kind of stream, a read on the other, and the next use of the memory that was read.
fn crossing(platform: &Platform) -> Result<bool> {
    let pool = |description: CudaStreamPool| platform.stream_pool("CROSS", &description);
    let primary = pool(CudaStreamPool::new())?.allocate("primary")?;
    let first = pool(CudaStreamPool::new().on(GREEN.context(0)))?.allocate("first")?;
    let second = pool(CudaStreamPool::new().on(GREEN.context(1)))?.allocate("second")?;
    let mut right = true;
    for (from, to) in [(&primary, &first), (&first, &primary), (&first, &second)] {
        let (mut data, mut copy) = (platform.buffer(LEN, from)?, platform.buffer(LEN, to)?);
        from.launch::<slow_fill>(LEN, (&mut data, -1.0, 0))?;
        from.synchronize_blocking()?;
        from.launch::<slow_fill>(LEN, (&mut data, 7.0, SLOW))?;
        to.launch::<slow_copy>(LEN, (&mut copy, &data, 0))?;
        right &= to.download_blocking(&copy)?.iter().all(|&value| value == 7.0);
        from.synchronize_blocking()?;
    }
    Ok(right)
}

/// An operator that notes the number of multiprocessors of its stream.
#[operator]
struct Where {
    #[input]
    image: &Tensor<f32>,
    has: Option<u32>,
}

impl Compute for Where {
    fn compute(&mut self, io: WhereIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.has = stream.green_context().map(GreenContext::multiprocessors);
        Ok(())
    }
}

graph! {
    /// A graph with partitions for two nodes, its default context for a node without `#[streams]`, and a node on the
    /// whole device.
    #[green_contexts(PARTS)]
    struct OnGreen(count: u64) {
        const PARTS: CudaGreenContextPool =
            CudaGreenContextPool::new().sms_per_partition(&[8, 16]).default_context_index(1);
        const FIRST: CudaStreamPool = CudaStreamPool::new().on(PARTS.context(0)).max_size(2);
        const ALL: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(FIRST)] #[when(count(count))]
        let camera: Camera = Camera::new(50, 3);
        #[streams(ALL)]
        let cast: Cast = Cast::new();
        let on_default: Where = Where::new(None);
        #[streams(FIRST)]
        let on_first: Where = Where::new(None);
        #[streams(ALL)]
        let show: Show = Show::new(Vec::new());

        camera.frame >> cast.src;
        cast.dst >> (on_default.image, on_first.image, show.image);
    }
}

fn graph(platform: &Platform) -> Result<(), Failed> {
    let mut graph = OnGreen::new(platform, 3)?;
    graph.run()?;
    let seen: Vec<f32> = graph.show().seen().iter().map(|(value, _)| *value).collect();
    check(seen == [3.0, 4.0, 5.0], || format!("{seen:?}"))?;
    let has = (graph.on_default().has, graph.on_first().has);
    check(has == (Some(16), Some(8)), || format!("{has:?}"))
}

/// Checks that a device is divided once, even if several pools and graphs name the same division.
fn once(seed: u64) -> Result<(), Failed> {
    let (recorder, platform) = recorded(Arc::new(HostDriver::builder().seed(seed).build()))?;
    let _first = OnGreen::new(&platform, 3)?;
    OnGreen::new(&platform, 3)?.run()?;
    let divided = recorder.count(|call| matches!(call, Call::CreateGreenContexts { .. }));
    check(divided == 1, || format!("divided {divided} times"))
}

/// Checks that another default context or other promised sizes in a description do not divide the device again.
fn another_default(platform: &Platform) -> Result<(), Failed> {
    let first = platform.green_contexts(&GREEN)?;
    for same in [GREEN.default_context_index(1), GREEN.min_sm_size(8)] {
        let found = platform.green_contexts(&same)?;
        check(found.partitions() == first.partitions(), || format!("{first:?}, {found:?}"))?;
        let pool = platform.stream_pool("SAME", &CudaStreamPool::new().on(same.context(0)))?;
        let has = pool.allocate("user")?.green_context();
        check(has == first.partitions().first().copied(), || format!("{has:?}"))?;
    }
    let second = CudaStreamPool::new().on(GREEN.default_context_index(1).default_context());
    let has = platform.stream_pool("SECOND", &second)?.allocate("user")?.green_context();
    check(has == first.partitions().get(1).copied(), || format!("{has:?}"))
}

fn second_device(seed: u64) -> Result<(), Failed> {
    let platform = Platform::host().seed(seed).devices(2).build()?;
    let on_second = CudaStreamPool::new().on(GREEN.device(device(1)).context(1));
    check(on_second.get_device() == device(1), || format!("{on_second:?}"))?;
    let stream = platform.stream_pool("FAR", &on_second)?.allocate("user")?;
    check(stream.device() == device(1), || format!("{stream:?}"))?;
    let missing = platform.green_contexts(&GREEN.device(device(2)));
    check_error("device 2", missing, |error| matches!(error, Error::NoSuchDevice { .. })).map(drop)
}
