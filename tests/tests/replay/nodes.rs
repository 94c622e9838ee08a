//! Operators with the same calls in each tick, although their data differs: the data changes only on the device.

use streamflow::prelude::*;
use streamflow_tests::seen::{Seen, push_seen};

pub(crate) const LEN: usize = 64;

/// The result that a sink has at the end of a run.
pub(crate) type Got = Seen<Vec<u32>>;

/// `state[i] = state[i] * 3 + 1`
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < state_len) state[i] = state[i] * 3u + 1u;
")]
pub(crate) fn bump(state: &mut [u32]) {
    state.iter_mut().for_each(|x| *x = x.wrapping_mul(3).wrapping_add(1));
}

/// `out[i] = input[i] * 5 + tag`
#[kernel(requires(out.len() == input.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = input[i] * 5u + tag;
")]
pub(crate) fn tagged(out: &mut [u32], input: &[u32], tag: u32) {
    for (out, input) in out.iter_mut().zip(input) {
        *out = input.wrapping_mul(5).wrapping_add(tag);
    }
}

/// `out[i] = a[i] * 7 + b[i]`
#[kernel(requires(out.len() == a.len(), out.len() == b.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = a[i] * 7u + b[i];
")]
pub(crate) fn joined(out: &mut [u32], a: &[u32], b: &[u32]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a.wrapping_mul(7).wrapping_add(*b);
    }
}

/// `state[i] = state[i] * 31 + image[i]`
#[kernel(requires(state.len() == image.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < state_len) state[i] = state[i] * 31u + image[i];
")]
pub(crate) fn folded(state: &mut [u32], image: &[u32]) {
    for (state, image) in state.iter_mut().zip(image) {
        *state = state.wrapping_mul(31).wrapping_add(*image);
    }
}

/// An operator that sends a state, which each tick changes on the device.
#[operator(streams(work))]
pub(crate) struct Source {
    #[output]
    image: Tensor<u32>,
    state: Option<Tensor<u32>>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        if self.state.is_none() {
            self.state = Some(cx.upload(&[0; LEN])?);
        }
        let Some(state) = &mut self.state else { return Ok(()) };
        stream.launch::<bump>(LEN, (&mut *state,))?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<tagged>(LEN, (&mut image, &*state, 1))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that launches a kernel whose last argument may change from a tick on.
#[operator]
pub(crate) struct Step {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    tag: u32,
    /// The tick from which on the tag is one more.
    changes: u64,
}

impl Compute for Step {
    fn compute(&mut self, io: StepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        let tag = self.tag + u32::from(cx.tick() >= self.changes);
        stream.launch::<tagged>(LEN, (&mut out, image, tag))?;
        io.out.emit(out)
    }
}

#[operator]
pub(crate) struct Join {
    #[input]
    a: &Tensor<u32>,
    #[input]
    b: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive(), io.b.receive());
        let (a, stream) = a.receive_cuda_stream(cx)?;
        let (b, _) = b.receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<joined>(LEN, (&mut out, a, b))?;
        io.out.emit(out)
    }
}

/// An operator that folds all images on the device, and downloads the result at the end.
#[operator]
pub(crate) struct Fold {
    #[input]
    image: &Tensor<u32>,
    state: Option<Tensor<u32>>,
    got: Got,
}

impl Compute for Fold {
    fn compute(&mut self, io: FoldIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        if self.state.is_none() {
            self.state = Some(cx.upload(&[0; LEN])?);
        }
        let Some(state) = &mut self.state else { return Ok(()) };
        Ok(stream.launch::<folded>(LEN, (state, image))?)
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        if let Some(state) = self.state.take() {
            let pool = cx.platform().stream_pool("STOP", &CudaStreamPool::new())?;
            let stream = pool.allocate("the fold")?;
            push_seen(
                &self.got,
                cx.platform().download(&state, &stream)?.wait_blocking()?.to_vec(),
            );
        }
        Ok(())
    }
}

/// Returns the result of [`Fold`] behind a diamond of `Source`, two `Step` with the tags 2 and 3, and `Join`.
pub(crate) fn expected(ticks: u64, changes: u64) -> Vec<u32> {
    let (mut state, mut fold) = (0_u32, 0_u32);
    for tick in 0..ticks {
        state = state.wrapping_mul(3).wrapping_add(1);
        let image = state.wrapping_mul(5).wrapping_add(1);
        let more = u32::from(tick >= changes);
        let a = image.wrapping_mul(5).wrapping_add(2 + more);
        let b = image.wrapping_mul(5).wrapping_add(3);
        fold = fold.wrapping_mul(31).wrapping_add(a.wrapping_mul(7).wrapping_add(b));
    }
    vec![fold; LEN]
}
