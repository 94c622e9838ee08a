// Types that can't be messages. Each is reported once, although the operator is used.
use streamflow::prelude::*;

#[operator]
pub struct Odd {
    #[input]
    slice: &[f32],
    #[input]
    objects: &[Camera],
    #[input]
    text: &str,
    #[input]
    anything: &dyn std::any::Any,
    #[input]
    some: impl Message,
    #[input]
    pair: (Tensor<f32>, u64),
    #[input]
    array: [Tensor<f32>; 3],
    #[input]
    pointer: *const f32,
    #[input]
    function: fn(&u64) -> &u64,
    #[input]
    twice: &&Tensor<f32>,
    #[input]
    open: Tensor<_>,
    #[input]
    named: HostData<&'a str>,
    #[input]
    elided: Shared<HostData<Vec<&str>>>,
    #[output]
    me: HostData<Self>,
    // These are right.
    #[output]
    fixed: HostData<&'static str>,
    #[output]
    made: HostData<for<'a> fn(&'a u64) -> &'a u64>,
    #[output]
    called: HostData<fn(&u64) -> &u64>,
}

pub struct Camera;

impl Compute for Odd {
    fn compute(&mut self, io: OddIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, _): (&Tensor<f32>, _) = io.slice.receive().receive_cuda_stream(cx)?;
        let _: &String = io.text.receive().into_data();
        io.fixed.emit(HostData("fixed"))
    }
}

fn main() {}
