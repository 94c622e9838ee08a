//! Pools that a graph with ports declares for its own nodes.

use streamflow::prelude::*;
use streamflow_tests::forms::Form;
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::{Camera, Cast, Invert, Show};
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(super) fn add(suite: Suite) -> Suite {
    let why = "with workers, the number of streams of the library itself depends on time";
    suite
        .except(Form::Planned, "planned streams are shared", |suite| {
            suite
                .except(Form::Workers, why, |suite| {
                    suite.both("each_part_has_its_own_pool", own_pools)
                })
                .devices("a_pool_inside_is_on_the_device_of_the_part", 2, far)
                .devices("a_pool_places_a_part_whose_nodes_have_pools", 2, placed)
        })
        .both("a_pool_inside_can_be_exhausted", exhausted)
        .both("a_pool_of_a_value_is_checked_when_the_part_is_made", of_a_value)
}

graph! {
    /// Converts frames on streams of its own, and changes their signs on a stream of the node that it is.
    struct Part(on_default: bool) {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        const FAST: CudaStreamPool = CudaStreamPool::new().max_size(1).priority(-1);
        let CHOSEN = CudaStreamPool::new().use_default_stream(on_default);
        #[streams(FAST)]
        let cast: Cast = Cast::new();
        #[streams(CHOSEN)]
        let invert: Invert = Invert::new();
        let back: Invert = Invert::new();
        frame >> cast.src;
        cast.dst >> invert.src;
        invert.dst >> back.src;
        back.dst >> image;
    }
}

graph! {
    struct Two(on_default: bool) {
        const OUTER: CudaStreamPool = CudaStreamPool::new().max_size(5);
        #[when(count(2))]
        #[streams(OUTER)]
        let camera: Camera = Camera::new(70, 3);
        #[streams(OUTER)]
        let one: Part = Part::new(on_default);
        #[streams(OUTER)]
        let other: Part = Part::new(on_default);
        #[streams(OUTER)]
        let show: Show = Show::new(Vec::new());
        #[streams(OUTER)]
        let cast: Casts = Casts::new();
        camera.frame >> one.frame;
        one.image >> cast.image;
        cast.bytes >> other.frame;
        other.image >> show.image;
    }
}

/// Converts an image back to bytes.
#[operator]
struct Casts {
    #[input]
    image: &Tensor<f32>,
    #[output]
    bytes: Tensor<u8>,
}

impl Compute for Casts {
    fn compute(&mut self, io: CastsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let values = cx.download(image, &stream)?;
        let bytes: Vec<u8> = values.wait_blocking()?.iter().map(|value| *value as u8).collect();
        io.bytes.emit(cx.upload(&bytes)?)
    }
}

fn judge(show: &mut Show) -> Result<(), Failed> {
    let seen: Vec<f32> = show.take_seen().iter().map(|(value, _)| *value).collect();
    check_equal(seen, vec![3.0, 4.0])
}

/// Checks the number of streams: that of the platform, five of the outer pool, one of `FAST` and, on no default stream, one of `CHOSEN`
/// for each part.
fn own_pools(platform: &Platform) -> Result<(), Failed> {
    let created = |on_default| -> Result<(usize, usize), Failed> {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        let mut graph = Two::new(&platform, on_default)?;
        graph.run()?;
        judge(graph.show_mut())?;
        let text = recorder.text();
        let urgent = text
            .lines()
            .filter(|line| line.contains("create stream") && !line.contains("priority 0"));
        Ok((text.matches("create stream").count(), urgent.count()))
    };
    let ((default, fast), (own, _)) = (created(true)?, created(false)?);
    check_equal(own - default, 2)?;
    // Without priorities of the device, all streams have priority 0.
    check(fast == 2 || fast == 0, || format!("{fast} streams of `FAST`"))
}

graph! {
    struct Far {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[when(count(2))]
        #[streams(FAR)]
        let camera: Camera = Camera::new(70, 3);
        #[streams(FAR)]
        let part: Part = Part::new(false);
        #[streams(FAR)]
        let show: Show = Show::new(Vec::new());
        camera.frame >> part.frame;
        part.image >> show.image;
    }
}

fn far(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let mut graph = Far::new(&platform)?;
    graph.run()?;
    judge(graph.show_mut())?;
    let text = recorder.text();
    let created = text.lines().filter(|line| line.contains("create stream"));
    let (far, near): (Vec<&str>, Vec<&str>) = created.partition(|line| line.contains("device 1"));
    check(far.len() >= 5, || text.clone())?;
    check(near.len() <= 1, || format!("{near:?}"))
}

graph! {
    /// All nodes are on a pool inside.
    struct Whole {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        const POOL: CudaStreamPool = CudaStreamPool::new();
        #[streams(POOL)]
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

graph! {
    struct Placed {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[when(count(2))]
        #[streams(FAR)]
        let camera: Camera = Camera::new(70, 3);
        #[streams(FAR)]
        let whole: Whole = Whole::new();
        #[streams(FAR)]
        let show: Show = Show::new(Vec::new());
        camera.frame >> whole.frame;
        whole.image >> show.image;
    }
}

fn placed(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Placed::new(platform)?;
    graph.run()?;
    judge(graph.show_mut())
}

/// Allocates a stream more than it declares.
#[operator(streams(one))]
struct Greedy {
    #[input]
    image: &Tensor<u8>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Greedy {
    fn compute(&mut self, io: GreedyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let _own = cx.allocate_cuda_stream(io.one)?;
        let _more = cx.allocate_cuda_stream_named("more")?;
        io.out.emit(cx.tensor(image.shape(), &stream)?)
    }
}

graph! {
    struct Small {
        input image: &Tensor<u8>;
        output out: Tensor<f32>;
        const SMALL: CudaStreamPool = CudaStreamPool::new().max_size(2);
        #[streams(SMALL)]
        let greedy: Greedy = Greedy::new();
        image >> greedy.image;
        greedy.out >> out;
    }
}

graph! {
    struct Exhausted {
        #[when(count(2))]
        let camera: Camera = Camera::new(70, 3);
        let small: Small = Small::new();
        camera.frame >> small.image;
        small.out >> _;
    }
}

fn exhausted(platform: &Platform) -> Result<(), Failed> {
    let text = match Exhausted::new(platform)?.run() {
        Ok(_) => return Err(Failed::msg("a pool of two streams gave three")),
        Err(error) => error.to_string(),
    };
    check(text.contains("`small.SMALL`"), || text.clone())
}

graph! {
    struct Chosen(pool: CudaStreamPool) {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let CHOSEN: CudaStreamPool = pool;
        #[streams(CHOSEN)]
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

graph! {
    struct OfAValue(pool: CudaStreamPool) {
        #[when(count(2))]
        let camera: Camera = Camera::new(70, 3);
        let chosen: Chosen = Chosen::new(pool);
        camera.frame >> chosen.frame;
        chosen.image >> _;
    }
}

fn of_a_value(platform: &Platform) -> Result<(), Failed> {
    let made = |pool| OfAValue::new(platform, pool).err().map(|error| error.to_string());
    check_equal(made(CudaStreamPool::new()), None)?;
    let far = made(CudaStreamPool::new().device(device(1))).unwrap_or_default();
    check(
        far.contains("`chosen.CHOSEN` is on device 1, but a pool of a graph with ports"),
        || far.clone(),
    )?;
    let small = made(CudaStreamPool::new().max_size(0)).unwrap_or_default();
    check(small.contains("holds no stream"), || small.clone())
}
