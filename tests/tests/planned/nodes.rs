//! Operators that note on which stream they work.

use std::collections::BTreeSet;
use std::fmt::Debug;

use streamflow::prelude::*;
use streamflow::stream::Assign;
use streamflow_tests::kernels::mixing::{join, make, map};
use streamflow_tests::seen::{self, Seen, push_seen};

pub(crate) const LEN: usize = 64;

/// What the nodes have noted: the name of the node, its tick and the stream.
pub(crate) type Noted = Seen<(String, u64, String)>;

/// The images that the sinks received.
pub(crate) type Got = Seen<Image>;

/// A sink's name, and an image that it received.
pub(crate) type Image = (String, Vec<u32>);

pub(crate) fn planned(depth: u32) -> CudaStreamPool {
    CudaStreamPool::new().assign(Assign::Planned { depth })
}

pub(crate) fn per_operator() -> CudaStreamPool {
    CudaStreamPool::new().assign(Assign::PerOperator)
}

/// An operator that sends in every second tick.
#[operator]
pub(crate) struct Go {
    #[output]
    go: u32,
}

impl Compute for Go {
    fn compute(&mut self, io: GoIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() % 2 == 1 { io.go.emit(0) } else { Ok(()) }
    }
}

/// Notes the stream of a tick, as a text that only the same stream has.
pub(crate) fn note(noted: &Noted, cx: &ExecutionContext, stream: &impl Debug) {
    push_seen(noted, (cx.node().to_owned(), cx.tick(), format!("{stream:?}")));
}

/// Returns the streams of a node, in the order of its ticks.
pub(crate) fn streams_of(noted: &Noted, node: &str) -> Vec<String> {
    let noted = seen::all(noted);
    noted.into_iter().filter(|(by, ..)| by == node).map(|(.., stream)| stream).collect()
}

/// Returns on how many streams the nodes worked in one of their ticks.
pub(crate) fn used(noted: &Noted, tick: u64) -> usize {
    let noted = seen::all(noted);
    let of_tick = noted.into_iter().filter(|(_, at, _)| *at == tick);
    of_tick.map(|(.., stream)| stream).collect::<BTreeSet<_>>().len()
}

/// Returns whether two nodes have worked on the same stream in each tick.
pub(crate) fn share(noted: &Noted, a: &str, b: &str) -> bool {
    let (a, b) = (streams_of(noted, a), streams_of(noted, b));
    !a.is_empty() && a == b
}

/// An operator that sends images that differ from tick to tick.
#[operator(streams(work))]
pub(crate) struct Source {
    #[output]
    image: Tensor<u32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<make>(LEN, (&mut image, cx.tick() as u32, 0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that launches a kernel on its internal stream.
#[operator]
pub(crate) struct Step {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    tag: u32,
    noted: Noted,
}

impl Compute for Step {
    fn compute(&mut self, io: StepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<map>(LEN, (&mut out, image, self.tag, 0))?;
        io.out.emit(out)
    }
}

/// An operator that launches a kernel on two images.
#[operator]
pub(crate) struct Join {
    #[input]
    a: &Tensor<u32>,
    #[input]
    b: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    noted: Noted,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive(), io.b.receive());
        let (a, stream) = a.receive_cuda_stream(cx)?;
        let (b, _) = b.receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<join>(LEN, (&mut out, a, b, 5, 0))?;
        io.out.emit(out)
    }
}

/// A sink that downloads its images.
#[operator]
pub(crate) struct Sink {
    #[input]
    image: &Tensor<u32>,
    noted: Noted,
    got: Got,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        let data = cx.download(image, &stream)?.wait_blocking()?.to_vec();
        push_seen(&self.got, (cx.node().to_owned(), data));
        Ok(())
    }
}
