//! One tick, written with the state types of ports and without them. `tests/tests/zero_cost.rs` compares the calls in the machine
//! code of the two functions, to show that the types cost nothing. This module is compiled for that test alone.
#![allow(missing_docs, clippy::too_many_arguments)]

use super::input::order_each;
use super::outlet::Outlet;
use super::output::stamp;
use super::stream_policy::{Allocated, FindStream};
use super::{In, Out, input, output};
use crate::context::ExecutionContext;
use crate::error::Result;
use crate::memory::Tensor;
use crate::message::Inlet;
use crate::stream::CudaStream;
use crate::time::Timestamp;

/// The type of a function that does the operator's work. No operator of the library has a port of `Tensor<u16>`, so the code of
/// a tick with such ports has one caller, and is inlined there, as in a program with one such operator.
type Work = fn(&Tensor<u16>, &CudaStream) -> Result<Tensor<u16>>;

/// The tick as operators write it, with `In` and `Out`.
#[inline(never)]
pub fn with_states<'t>(
    input: In<'t, &'t Tensor<u16>>,
    output: Out<'t, Tensor<u16>>,
    cx: &'t ExecutionContext,
    work: Work,
) -> crate::Result<()> {
    let (image, stream) = input.receive().receive_cuda_stream(cx)?;
    let made = work(image, &stream)?;
    output.emit(made)
}

/// The same tick without the state types: the compiler would accept these lines in another order, too.
#[inline(never)]
pub fn without_states(
    (inlet, of_input): Input<'_>,
    (outlet, of_output): Output<'_>,
    (acquired, sequence): (Option<Timestamp>, Option<u64>),
    cx: &ExecutionContext,
    work: Work,
) -> crate::Result<()> {
    inlet.receive_noted(of_input.carried());
    let stream = match inlet.only() {
        Some(envelope) => cx.receive_stream(Allocated::POLICY, envelope.sent.into_iter()),
        None => order_each(inlet, Allocated::POLICY, cx),
    };
    let stream =
        stream.inspect_err(|error| input::lost(of_input, "receive_cuda_stream", inlet, error))?;
    let platform = of_input.platform();
    if platform.is_watched() {
        inlet.report_batch(platform);
    }
    let made = work(inlet.read(), &stream)?;
    let name = outlet.name;
    let emitted = emit((outlet, of_output), (acquired, sequence), made);
    if let Err(error) = &emitted {
        output::lost(of_output, name, error);
    }
    emitted
}

#[inline(always)]
fn emit(
    (outlet, of_output): Output<'_>,
    (acquired, sequence): (Option<Timestamp>, Option<u64>),
    made: Tensor<u16>,
) -> crate::Result<()> {
    let stream = of_output.sending_stream(outlet.name)?;
    let mut metadata = of_output.metadata();
    if acquired.is_some() | sequence.is_some() {
        stamp(&mut metadata, acquired, sequence);
    }
    outlet.emit(made, metadata, Some(stream), of_output)?;
    Ok(())
}

/// A control for the test: the same tick with one call fewer. The test must find that difference.
#[inline(never)]
pub fn without_metadata(
    inlet: &mut Inlet<Tensor<u16>>,
    (outlet, of_output): Output<'_>,
    cx: &ExecutionContext,
    work: Work,
) -> crate::Result<()> {
    inlet.receive();
    let sent = inlet.batch().filter_map(|envelope| envelope.sent);
    let stream = cx.receive_stream(Allocated::POLICY, sent)?;
    let made = work(inlet.read(), &stream)?;
    let stream = of_output.sending_stream(outlet.name)?;
    outlet.emit(made, of_output.metadata(), Some(stream), of_output)
}

/// References the functions, so that the compiler keeps them. The module is compiled into a static library without exported
/// names: only these functions and their callees are compiled.
#[used]
static KEPT: (WithStates, WithoutStates, WithoutMetadata) =
    (with_states, without_states, without_metadata);

type Input<'t> = (&'t mut Inlet<Tensor<u16>>, &'t ExecutionContext);
type Output<'t> = (&'t mut Outlet<Tensor<u16>>, &'t ExecutionContext);
type WithStates = for<'t> fn(
    In<'t, &'t Tensor<u16>>,
    Out<'t, Tensor<u16>>,
    &'t ExecutionContext,
    Work,
) -> crate::Result<()>;
type WithoutStates = fn(
    Input<'_>,
    Output<'_>,
    (Option<Timestamp>, Option<u64>),
    &ExecutionContext,
    Work,
) -> crate::Result<()>;
type WithoutMetadata =
    fn(&mut Inlet<Tensor<u16>>, Output<'_>, &ExecutionContext, Work) -> crate::Result<()>;
