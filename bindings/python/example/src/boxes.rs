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
#[kernel(
    unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) {
        int box = label[i / 4];
        bool is_one = box >= 0 && (unsigned long long)box < boxes_len / 4;
        out[i] = is_one ? boxes[4 * (unsigned long long)box + i % 4] : 0.0f;
    }",
    requires(out.len() == 4 * label.len())
)]
fn remap(out: &mut [f32], boxes: &[f32], label: &[i32]) {
    for (out, number) in out.chunks_mut(4).zip(label) {
        let found = usize::try_from(*number).ok().and_then(|number| boxes.chunks(4).nth(number));
        out.copy_from_slice(found.unwrap_or(&[0.0; 4]));
    }
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
        stream.launch::<remap>(out.len(), (&mut out, boxes, label))?;
        io.boxes.emit(out)
    }
}
