//! The operator of the user guide's MatX page, which is C++ there and Rust here: it selects the boxes of one label.

use streamflow::prelude::*;
use streamflow_python::InputMessage;

/// The boxes of an image, and the indices of the boxes with a label.
#[derive(Debug, Message)]
pub struct LabelledBoxes {
    /// The boxes, of shape (1, boxes, 4).
    pub boxes: Tensor<f32>,
    /// The indices of the boxes with the label.
    pub label: Tensor<i32>,
}

impl InputMessage for LabelledBoxes {
    fn describe() -> String {
        "a dict of the float32 tensor `boxes` and the int32 tensor `label`".to_owned()
    }
}

/// Writes the four numbers of each box that `label` names, or zeros if `label` names no box.
#[kernel(map)]
fn remap(out: &mut f32, boxes: &[f32], label: &[i32], #[at] i: usize) {
    // A negative number becomes one beyond all boxes.
    let number = label[i / 4] as usize;
    *out = if number < boxes.len() / 4 { boxes[4 * number + i % 4] } else { 0.0 };
}

/// The operator in place of this line of Holoscan's user guide: `boxesl_mx = matx::remap<1>(boxes_ix_mx, ixl_mx)`.
#[operator]
pub struct Remap {
    #[input]
    labelled: LabelledBoxes,
    #[output]
    boxes: Tensor<f32>,
}

impl Compute for Remap {
    fn compute(&mut self, io: RemapIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (labelled, stream) = io.labelled.receive().receive_cuda_stream(cx)?;
        let LabelledBoxes { boxes, label } = &labelled;
        let mut out = cx.tensor([1, label.len(), 4], &stream)?;
        stream.map::<remap>((&mut out, boxes, label))?;
        io.boxes.emit(out)
    }
}
