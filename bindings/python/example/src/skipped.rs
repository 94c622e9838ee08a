//! A graph that mixes frames, as the guide's page on failures describes: `second` passes every second frame on, and `join` takes
//! the oldest message of each of its inputs.

use streamflow::prelude::*;
use streamflow_python::{FromPython, InputPort, OutputPort, ToPython, export};

#[operator]
struct EachSecond {
    #[input]
    frame: Shared<Tensor<f32>>,
    #[output]
    passed: Shared<Tensor<f32>>,
}

impl Compute for EachSecond {
    fn compute(&mut self, io: EachSecondIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (frame, _) = io.frame.receive().receive_cuda_stream(cx)?;
        if cx.tick().is_multiple_of(2) { Ok(()) } else { io.passed.emit(frame) }
    }
}

#[operator]
struct Join {
    #[input]
    frame: &Tensor<f32>,
    #[input]
    passed: Shared<Tensor<f32>>,
    #[output]
    joined: Shared<Tensor<f32>>,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_frame, _) = io.frame.receive().receive_cuda_stream(cx)?;
        let (passed, _) = io.passed.receive().receive_cuda_stream(cx)?;
        io.joined.emit(passed)
    }
}

graph! {
    struct SkippedGraph(frames: InputPort<Tensor<f32>>, joined: OutputPort<Tensor<f32>>) {
        #[when(condition(frames.ready()))]
        let pushed_frames: FromPython<Tensor<f32>> = frames.operator();
        let second: EachSecond = EachSecond::new();
        let join: Join = Join::new();
        #[streams(none)] #[when(condition(joined.room()))]
        let taken_joined: ToPython<Tensor<f32>> = joined.operator();

        #[capacity(8)] pushed_frames.message >> join.frame;
        pushed_frames.message >> second.frame;
        second.passed >> join.passed;
        join.joined >> taken_joined.message;
    }
}

export! {
    /// Joins each frame with the frames that are left when every second one is skipped, as they come.
    pub class JoinSkipped of SkippedGraph {
        inputs { frames: Tensor<f32>; }
        outputs { joined: Tensor<f32>; }
    }
}
