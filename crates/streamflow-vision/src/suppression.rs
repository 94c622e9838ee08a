//! `NonMaxSuppression`: of boxes that overlap, the one with the highest score.

use streamflow::Failure;
use streamflow::prelude::*;

/// Boxes on a device, the best one first. All tensors have room for the most boxes; elements behind the first `count` are 0.
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct Detections {
    /// The boxes, `[most, 4]`: left, upper, right and lower edge, in pixels.
    pub boxes: Tensor<f32>,
    /// The scores, `[most]`.
    pub scores: Tensor<f32>,
    /// The numbers that the boxes had at the operator that found them, `[most]`: rows of the input, or labels.
    pub indices: Tensor<u32>,
    /// How many boxes there are, `[1]`.
    pub count: Tensor<u32>,
}

impl Detections {
    /// Makes tensors for this many boxes, all 0.
    pub(crate) fn zeros(most: usize, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let mut made = Self {
            boxes: cx.tensor([most, 4], stream)?,
            scores: cx.tensor([most], stream)?,
            indices: cx.tensor([most], stream)?,
            count: cx.tensor([1], stream)?,
        };
        stream.fill_bytes(&mut made.boxes, 0)?;
        stream.fill_bytes(&mut made.scores, 0)?;
        stream.fill_bytes(&mut made.indices, 0)?;
        stream.fill_bytes(&mut made.count, 0)?;
        Ok(made)
    }
}

/// Keeps the box with the highest score, leaves out those that overlap it too much, and goes on with the rest: the boxes that
/// `torchvision.ops.nms` keeps, in its order. With a score threshold, those of `cv2.dnn.NMSBoxes`, which also leaves out boxes without an area.
///
/// - The overlap of two boxes is the area of their intersection over that of their union (IoU), in `f32`. A box is left out if its overlap
///   with a kept one is larger than the threshold. A box with a NaN overlaps none.
/// - Of equal scores, the first box comes first. A box whose score is NaN is left out.
/// - Boxes of several classes are kept apart as by `torchvision.ops.batched_nms`: add a multiple of the image's size to the boxes of each
///   class.
///
/// A single block of a GPU does the work: for each kept box it passes once over all boxes, so that the time is proportional to the number of
/// kept boxes times that of all. That is the time of a small kernel for up to some tens of thousands of boxes and some hundreds of
/// kept ones.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_vision::NonMaxSuppression;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let boxes = [0.0_f32, 0.0, 10.0, 10.0, 1.0, 1.0, 10.0, 10.0, 20.0, 0.0, 30.0, 10.0];
/// let boxes = platform.upload(&boxes)?.reshape([3, 4])?;
/// let scores = platform.upload(&[0.5_f32, 0.9, 0.7])?;
/// let suppression = NonMaxSuppression::new(0.5, 100)?;
/// let mut suppression = OperatorHarness::new(&platform, suppression)?;
/// suppression.push(|ports| &mut ports.boxes, boxes)?;
/// suppression.push(|ports| &mut ports.scores, scores)?;
/// assert!(suppression.tick()?);
/// let sent = suppression.take(|ports| &mut ports.kept).expect("it sends in each tick").message;
/// assert_eq!(suppression.stream().download_blocking(&sent.count)?, [2]);
/// assert_eq!(suppression.stream().download_blocking(&sent.indices)?[..2], [1, 2]);
/// # Ok(suppression.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
#[derive(Debug)]
pub struct NonMaxSuppression {
    /// The boxes, `[n, 4]`: left, upper, right and lower edge.
    #[input]
    boxes: &Tensor<f32>,
    /// Their scores, `[n]`.
    #[input]
    scores: &Tensor<f32>,
    /// The kept boxes, by falling score.
    #[output]
    kept: Detections,
    overlap: f32,
    score: Option<f32>,
    most: usize,
}

impl NonMaxSuppression {
    /// Creates an operator that keeps at most `most` boxes, and leaves out those whose overlap with a kept one is larger than `overlap`.
    ///
    /// # Errors
    /// An error with a text for an overlap that is not in 0 to 1, and for no boxes or 2³² and more.
    pub fn new(overlap: f32, most: usize) -> Result<Self> {
        if !(0.0..=1.0).contains(&overlap) {
            return Err(Failure::msg(format!(
                "`NonMaxSuppression` can't have a threshold of overlap of {overlap}; give it one from 0 to 1"
            )));
        }
        check_most("NonMaxSuppression", most)?;
        Ok(Self { overlap, score: None, most })
    }

    /// Leaves out boxes whose score is not above `score`.
    ///
    /// # Errors
    /// An error with a text for NaN.
    pub fn with_score(self, score: f32) -> Result<Self> {
        if score.is_nan() {
            let text = "`NonMaxSuppression` has NaN as its threshold of scores; give it a number";
            return Err(Failure::msg(text));
        }
        Ok(Self { score: Some(score), ..self })
    }
}

/// Checks the most boxes of an operator.
pub(crate) fn check_most(who: &str, most: usize) -> Result<()> {
    if most > 0 && most < u32::MAX as usize {
        return Ok(());
    }
    Err(Failure::msg(format!(
        "`{who}` can't send up to {most} boxes; let it send at least 1 and fewer than 4,294,967,295"
    )))
}

#[diagnostic::do_not_recommend]
impl Compute for NonMaxSuppression {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (boxes, stream) = io.boxes.receive_with_stream(cx)?;
        // The same stream, after the work on both messages.
        let (scores, _) = io.scores.receive_with_stream(cx)?;
        let n = match (boxes.shape(), scores.shape()) {
            ([n, 4], [m]) if n == m && *n < u32::MAX as usize => *n,
            (boxes, scores) => return Err(other_shapes(boxes, scores)),
        };
        let mut kept = Detections::zeros(self.most, cx, &stream)?;
        if n > 0 {
            let mut ranks = cx.tensor([n], &stream)?;
            let threshold = self.score.unwrap_or(0.0);
            let has_threshold = self.score.is_some();
            stream.map::<rank>((&mut ranks, scores, threshold, has_threshold))?;
            stream.launch::<suppress>(
                Grid::blocks(1),
                (
                    &mut kept.boxes,
                    &mut kept.scores,
                    &mut kept.indices,
                    &mut kept.count,
                    &mut ranks,
                    boxes,
                    scores,
                    self.overlap,
                ),
            )?;
        }
        io.kept.emit(kept)
    }
}

#[cold]
fn other_shapes(boxes: &[usize], scores: &[usize]) -> Failure {
    Failure::msg(format!(
        "`NonMaxSuppression` received a tensor of the shape {boxes:?} at its input `boxes` and one of {scores:?} at `scores`; send [n, 4] and \
         [n], with fewer than 4,294,967,295 boxes"
    ))
}

/// A number whose order is that of the scores, and 0 for a box that is left out.
#[kernel(map)]
fn rank(out: &mut u32, score: &f32, threshold: f32, has_threshold: bool) {
    // The sum makes zeros of both signs equal.
    let bits = (*score + 0.0).to_bits();
    let ordered = if bits >> 31 == 0 { bits | 0x8000_0000 } else { !bits };
    let is_left_out = (*score).is_nan() || has_threshold && !(*score > threshold);
    *out = if is_left_out { 0 } else { ordered };
}

/// The kernel of [`NonMaxSuppression`], in one block. In each turn the best box that is left is kept, and the rank of all boxes that
/// overlap it becomes 0, while the next best one is searched.
#[kernel(
    threads(1024),
    partial,
    requires(
        boxes.len() == 4 * ranks.len(),
        scores.len() == ranks.len(),
        kept.len() == 4 * kept_scores.len(),
        kept_indices.len() == kept_scores.len(),
        count.len() == 1
    ),
    unsafe cuda = "
    __shared__ unsigned long long best[32];
    __shared__ float corners[4];
    // A rank, and below it the complement of an index: the largest one is that of the highest score with the least index.
    unsigned long long own = 0;
    for (unsigned int i = threadIdx.x; i < ranks_len; i += 1024) {
        const unsigned long long key = ranks[i] ? (unsigned long long)ranks[i] << 32 | ~i : 0;
        own = key > own ? key : own;
    }
    unsigned int done = 0;
    for (; done < kept_scores_len; ++done) {
        for (int d = 16; d > 0; d /= 2) {
            const unsigned long long other = __shfl_xor_sync(0xffffffffu, own, d);
            own = other > own ? other : own;
        }
        if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = own;
        __syncthreads();
        if (threadIdx.x < 32) {
            own = best[threadIdx.x];
            for (int d = 16; d > 0; d /= 2) {
                const unsigned long long other = __shfl_xor_sync(0xffffffffu, own, d);
                own = other > own ? other : own;
            }
            if (threadIdx.x == 0) {
                best[0] = own;
                if (own) {
                    const unsigned int found = ~(unsigned int)own;
                    for (int k = 0; k < 4; ++k) corners[k] = kept[4ull * done + k] = boxes[4ull * found + k];
                    kept_scores[done] = scores[found];
                    kept_indices[done] = found;
                }
            }
        }
        __syncthreads();
        const unsigned long long top = best[0];
        if (!top) break;
        const unsigned int found = ~(unsigned int)top;
        const float x0 = corners[0], y0 = corners[1], x1 = corners[2], y1 = corners[3];
        const float area = __fmul_rn(x1 - x0, y1 - y0);
        own = 0;
        for (unsigned int i = threadIdx.x; i < ranks_len; i += 1024) {
            const unsigned int left = ranks[i];
            if (!left) continue;
            const float a0 = boxes[4ull * i], b0 = boxes[4ull * i + 1], a1 = boxes[4ull * i + 2], b1 = boxes[4ull * i + 3];
            const float across = fmaxf(fminf(x1, a1) - fmaxf(x0, a0), 0.0f);
            const float down = fmaxf(fminf(y1, b1) - fmaxf(y0, b0), 0.0f);
            const float both = __fmul_rn(across, down);
            const float all = __fadd_rn(area, __fmul_rn(a1 - a0, b1 - b0)) - both;
            if (i == found || __fdiv_rn(both, all) > overlap) {
                ranks[i] = 0;
                continue;
            }
            const unsigned long long key = (unsigned long long)left << 32 | ~i;
            own = key > own ? key : own;
        }
        // The next turn writes `best` and `corners`.
        __syncthreads();
    }
    if (threadIdx.x == 0) count[0] = done;
"
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes the fields of a struct one by one")]
fn suppress(
    kept: &mut [f32],
    kept_scores: &mut [f32],
    kept_indices: &mut [u32],
    count: &mut [u32],
    ranks: &mut [u32],
    boxes: &[f32],
    scores: &[f32],
    overlap: f32,
) {
    let area = |[x0, y0, x1, y1]: [f32; 4]| (x1 - x0) * (y1 - y0);
    let corners = |i: usize| [0, 1, 2, 3].map(|k| boxes[4 * i + k]);
    count[0] = 0;
    for done in 0..kept_scores.len() {
        let best = (0..ranks.len()).rev().max_by_key(|i| ranks[*i]);
        let Some(found) = best.filter(|found| ranks[*found] > 0) else { break };
        let own @ [x0, y0, x1, y1] = corners(found);
        kept[4 * done..][..4].copy_from_slice(&own);
        (kept_scores[done], kept_indices[done]) = (scores[found], found as u32);
        count[0] += 1;
        for (i, rank) in ranks.iter_mut().enumerate() {
            let other @ [a0, b0, a1, b1] = corners(i);
            let both = (x1.min(a1) - x0.max(a0)).max(0.0) * (y1.min(b1) - y0.max(b0)).max(0.0);
            if i == found || both / (area(own) + area(other) - both) > overlap {
                *rank = 0;
            }
        }
    }
}
