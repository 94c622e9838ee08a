//! Calls of the library in the destructors of thread-local variables, when the library's own thread-local
//! variables may be gone.

use std::cell::RefCell;
use std::future::IntoFuture;
use std::task::{Context, Waker};
use std::thread;

use streamflow::prelude::*;
use streamflow::schedule::Stepped;
use streamflow::testing::{OperatorHarness, explore, scope};
use streamflow::time::Clock;
use streamflow_tests::kernels::add_one;
use streamflow_tests::{Failed, check_equal};

/// A value that calls a function when its thread ends.
struct AtEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call();
        }
    }
}

thread_local! {
    static AT_END: RefCell<AtEnd> = const { RefCell::new(AtEnd(None)) };
}

/// Calls a function when a thread ends: before the destructors of the library's thread-local variables, after
/// them, and on a thread that has not used the library before.
fn at_the_end(call: fn() -> Result<(), Failed>) -> Result<(), Failed> {
    let register = move |done: std::sync::mpsc::Sender<Result<(), Failed>>| {
        let call = move || drop(done.send(call()));
        AT_END.with(|at_end| at_end.borrow_mut().0 = Some(Box::new(call)));
    };
    for order in 0..3 {
        let (done, is_done) = std::sync::mpsc::channel();
        let body = move || match order {
            // Destructors run in the order in which the variables were first used, or in the reverse order.
            0 => call().map(|()| register(done)),
            1 => {
                register(done);
                call()
            }
            _ => {
                register(done);
                Ok(())
            }
        };
        thread::spawn(body).join().map_err(|_| Failed::msg("a thread panicked"))??;
        is_done.recv()??;
    }
    Ok(())
}

/// An operator that adds 1 on a device, and keeps the result.
#[operator(streams(work))]
struct Adds {
    #[output]
    sum: Tensor<f32>,
    #[param]
    from: f32,
    seen: Vec<f32>,
}

impl Compute for Adds {
    fn compute(&mut self, io: AddsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor([1], &stream)?;
        stream.upload_blocking(&[self.from], &mut data)?;
        stream.launch::<add_one>(1, (&mut data,))?;
        self.seen.extend(stream.download_blocking(&data)?);
        io.sum.set_cuda_stream(&stream).emit(data)
    }
}

graph! {
    struct Added {
        const POOL: CudaStreamPool = CudaStreamPool::new();
        #[streams(POOL)] #[when(count(20))] let adds: Adds = Adds::new(1.0, Vec::new());
        adds.sum >> _;
    }
}

graph! {
    #[replay]
    struct Replayed {
        const POOL: CudaStreamPool = CudaStreamPool::new();
        #[streams(POOL)] #[when(count(20))] let adds: Adds = Adds::new(1.0, Vec::new());
        adds.sum >> _;
    }
}

const SEEN: [f32; 20] = [2.0; 20];

fn platform() -> Result<Platform> {
    Ok(Platform::builder().statistics(true).clock(&Clock::simulated()).race_check(true).host()?)
}

fn graphs() -> Result<(), Failed> {
    let platform = platform()?;
    let mut graph = Added::new(&platform)?;
    graph.run()?;
    check_equal(&*graph.adds().seen, &SEEN[..])?;
    let mut graph = Replayed::new(&platform)?;
    graph.run()?;
    check_equal(&*graph.adds().seen, &SEEN[..])?;
    let mut graph = Added::new(&platform)?;
    graph.workers(2)?;
    graph.params().adds().set_from(1.0)?;
    graph.run()?;
    check_equal(&*graph.adds().seen, &SEEN[..])?;
    let (mut graph, report) = Added::new(&platform)?.spawn()?.join_with_graph()?;
    report?;
    check_equal(&*graph.adds().seen, &SEEN[..])?;
    while graph.tick()? != Stepped::Over {}
    graph.end_run()?;
    check_equal(graph.adds().seen.len(), 40)?;
    let mut harness = OperatorHarness::new(&platform, Adds::new(1.0, Vec::new()))?;
    harness.tick()?;
    harness.stop()?;
    check_equal(&*harness.operator().seen, &[2.0])
}

pub(crate) fn runs() -> Result<(), Failed> {
    at_the_end(graphs)
}

fn work() -> Result<(), Failed> {
    let platform = platform()?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let mut data = platform.buffer::<f32>(4, &a)?;
    a.fill_bytes(&mut data, 0)?;
    b.launch::<add_one>(4, (&mut data,))?;
    let mut future = Box::pin(b.download(&data)?.into_future());
    let _any = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    check_equal(b.download_blocking(&data)?, vec![1.0; 4])
}

pub(crate) fn streams() -> Result<(), Failed> {
    at_the_end(work)
}

fn exploration() -> Result<(), Failed> {
    let test = |platform: &Platform| {
        let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
        let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
        scope(|scope| {
            let thread = scope.spawn(move || a.record());
            b.record()?;
            thread.join().map_err(|_| Failed::msg("a thread panicked"))??;
            Ok(())
        })
    };
    // The destructor may run after that of the variable by which the thread takes turns. The exploration then
    // reports an error.
    match explore(test) {
        Err(Error::Explored(found)) if found.failing.is_some() => Ok(()),
        done => Ok(done?),
    }
}

pub(crate) fn explored() -> Result<(), Failed> {
    at_the_end(exploration)
}
