//! A message with named tensors, pushed from Python as a dict.

use streamflow::prelude::*;
use streamflow_python::InputMessage;

/// Boxes with their scores.
#[derive(Debug, Message)]
pub struct Detections {
    /// A number for each box.
    pub boxes: Tensor<f32>,
    /// A score for each box.
    pub scores: Tensor<f32>,
}

impl InputMessage for Detections {
    fn describe() -> String {
        "a dict of the float32 tensors `boxes` and `scores`".to_owned()
    }
}

/// Adds the scores to the boxes, to whose shape they broadcast.
#[operator]
pub struct Sum {
    #[input]
    detections: Detections,
    #[output]
    sum: Tensor<f32>,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (detections, stream) = io.detections.receive().receive_cuda_stream(cx)?;
        let Detections { boxes, scores } = &detections;
        let mut sum = cx.tensor(boxes.shape(), &stream)?;
        stream.evaluate(&mut sum, expr!(boxes + scores))?;
        io.sum.emit(sum)
    }
}
