//! `ComponentBoxes`: the boxes around components.

use std::fmt;

use streamflow::Failure;
use streamflow::prelude::*;

use super::Labels;
use crate::suppression::{Detections, check_most};

/// Makes the boxes around [components](super::Components), in their order. A box has the first and the last column and row of its
/// component as its edges, the number of pixels as its score, rounded to an `f32`, and the label as its index. [`OverlayBoxes`](crate::OverlayBoxes)
/// draws them.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::format::Grey;
/// use streamflow_vision::{ComponentBoxes, Components, Detections, Image};
///
/// graph! {
///     /// The boxes of the first hundred components of a mask.
///     struct Parts {
///         input mask: &Image<Grey<u8>>;
///         output boxes: Detections;
///         let components: Components = Components::of_eight();
///         let boxed: ComponentBoxes = ComponentBoxes::new(100)?;
///         mask >> components.mask;
///         components.components >> boxed.components;
///         boxed.boxes >> boxes;
///     }
/// }
/// ```
#[operator(no_new, unlisted)]
pub struct ComponentBoxes {
    /// The components.
    #[input]
    components: &Labels,
    /// The boxes of the first components.
    #[output]
    boxes: Detections,
    most: usize,
}

impl ComponentBoxes {
    /// Creates an operator that makes the boxes of the first `most` components.
    ///
    /// # Errors
    /// An error with a text for no boxes, and for 2³² and more.
    pub fn new(most: usize) -> Result<Self> {
        check_most("ComponentBoxes", most)?;
        Ok(Self { most })
    }
}

#[diagnostic::do_not_recommend]
impl Compute for ComponentBoxes {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (Labels { labels, count }, stream) = io.components.receive_with_stream(cx)?;
        let (width, height) = match (labels.shape(), count.shape()) {
            (&[height, width], [1]) if labels.len() < u32::MAX as usize => (width, height),
            (labels, count) => return Err(other_shape(labels, count)),
        };
        let mut found = Detections::zeros(self.most, cx, &stream)?;
        if width > 0 && height > 0 {
            // Left, upper, right and lower edge, as minima: the last two are complements. And the number of pixels, less 2³² - 1.
            let mut extents = cx.tensor([self.most, 5], &stream)?;
            stream.fill_bytes(&mut extents, 0xff)?;
            stream.launch::<extend>([width, height], (&mut extents, labels, width))?;
            let Detections { boxes, scores, indices, .. } = &mut found;
            stream.map::<edges>((boxes, &extents, count))?;
            stream.map::<areas>((scores, indices, &extents, count))?;
            stream.map::<limit>((&mut found.count, count, self.most))?;
        }
        io.boxes.emit(found)
    }
}

impl fmt::Debug for ComponentBoxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComponentBoxes(at most {})", self.most)
    }
}

#[cold]
fn other_shape(labels: &[usize], count: &[usize]) -> Failure {
    Failure::msg(format!(
        "`ComponentBoxes` received labels of the shape {labels:?} and a count of {count:?} at its input `components`; send [height, width], of fewer than 4,294,967,295 pixels, and \
         [1]"
    ))
}

/// Extends the boxes by all pixels of their components.
#[kernel(
    partial,
    requires(width > 0, labels.len() % width == 0, extents.len() % 5 == 0),
    unsafe cuda = "
    const unsigned long long x = thread_index(), y = thread_index_y();
    if (x >= width || y >= labels_len / width) return;
    const unsigned int label = labels[y * width + x];
    if (label == 0 || label > extents_len / 5) return;
    unsigned int* const own = extents + (label - 1ull) * 5;
    // Few pixels extend a box. A value that was larger once is a reason to try.
    volatile unsigned int* const seen = own;
    const unsigned int across = (unsigned int)x, down = (unsigned int)y;
    if (seen[0] > across) atomicMin(own, across);
    if (seen[1] > down) atomicMin(own + 1, down);
    if (seen[2] > ~across) atomicMin(own + 2, ~across);
    if (seen[3] > ~down) atomicMin(own + 3, ~down);
    // The lanes with the same label add together.
    const unsigned int lanes = __match_any_sync(__activemask(), label);
    const unsigned int lane = (threadIdx.x + blockDim.x * threadIdx.y) & 31;
    if (__ffs(lanes) - 1 == lane) atomicAdd(own + 4, (unsigned int)__popc(lanes));
"
)]
fn extend(extents: &mut [u32], labels: &[u32], width: usize) {
    for (i, label) in labels.iter().enumerate() {
        let Some(index) = (*label as usize).checked_sub(1) else { continue };
        let Some(own) = extents.get_mut(5 * index..).and_then(|rest| rest.get_mut(..5)) else {
            continue;
        };
        let (x, y) = ((i % width) as u32, (i / width) as u32);
        for (least, at) in own.iter_mut().zip([x, y, !x, !y]) {
            *least = at.min(*least);
        }
        own[4] = own[4].wrapping_add(1);
    }
}

#[kernel(map)]
fn edges(out: &mut f32, extents: &[u32], count: &[u32], #[at] [row, edge]: [usize; 2]) {
    let mut place = 0;
    if row < count[0] as usize {
        place = extents[5 * row + edge];
        if edge > 1 {
            place = !place;
        }
    }
    *out = place as f32;
}

#[kernel(map)]
fn areas(score: &mut f32, label: &mut u32, extents: &[u32], count: &[u32], #[at] row: usize) {
    let is_there = row < count[0] as usize;
    *score = if is_there { extents[5 * row + 4].wrapping_add(1) as f32 } else { 0.0 };
    *label = if is_there { row as u32 + 1 } else { 0 };
}

#[kernel(map)]
fn limit(out: &mut u32, count: &u32, most: usize) {
    *out = (*count as usize).min(most) as u32;
}
