//! Frames with padded rows, as OpenCV's: they pass a graph without a copy.

use streamflow::memory::PitchedTensor;
use streamflow::prelude::*;
use streamflow_python::{FromPython, InputPort, OutputPort, ToPython, export};

graph! {
    struct FramesGraph(
        frames: InputPort<PitchedTensor<u8>>,
        passed: OutputPort<PitchedTensor<u8>>,
    ) {
        #[when(condition(frames.ready()))]
        let pushed_frames: FromPython<PitchedTensor<u8>> = frames.operator();
        #[streams(none)] #[when(condition(passed.room()))]
        let taken_passed: ToPython<PitchedTensor<u8>> = passed.operator();

        pushed_frames.message >> taken_passed.message;
    }
}

export! {
    /// Passes uint8 images of shape (rows, columns, 3) from `frames` to `passed`, with the padding between their rows.
    pub class PassFrames of FramesGraph {
        inputs { frames: PitchedTensor<u8> [_, _, 3]; }
        outputs { passed: PitchedTensor<u8>; }
    }
}
