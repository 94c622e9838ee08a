//! The kernel of `Convert`.

use streamflow::Element;
use streamflow::memory::Bool8;
use streamflow::prelude::*;

use crate::format::Layout;
use crate::sample::Sample;

/// Whether a memory of `len` samples has an image of this layout.
fn fits(len: usize, layout: u32, width: usize, height: usize, pitch: usize) -> bool {
    Layout::of(layout).is_some_and(|layout| {
        let all = layout.rows_of(height).checked_mul(pitch);
        layout.samples_of(width) <= pitch && all.is_some_and(|all| all <= len)
    })
}

/// The samples of a pixel in the row of its first sample.
fn samples(layout: u32) -> usize {
    Layout::of(layout).map_or(1, |layout| layout.samples_of(1))
}

/// The source of a conversion.
struct Source<'a, A> {
    image: &'a [A],
    layout: u32,
    /// The samples of a pixel in its row.
    step: usize,
    size: [usize; 2],
    pitch: usize,
    siting: u32,
    red: [u32; 2],
    /// The rows of the matrix that make the target's numbers.
    matrix: [[f32; 4]; 3],
}

impl<A: Sample> Source<'_, A> {
    /// A sample of chroma, in the columns and rows of its plane; beyond the edge the nearest one.
    fn chroma(&self, x: isize, y: isize, which: usize) -> f32 {
        let [width, height] = self.size;
        let rows = if self.layout == 6 { height } else { height / 2 };
        let (x, y) = (clamped(x, width / 2), clamped(y, rows));
        let planes = height * self.pitch;
        let at = match self.layout {
            4 => planes + y * self.pitch + 2 * x + which,
            5 => planes + (which * (height / 2) + y) * (self.pitch / 2) + x,
            _ => y * self.pitch + 4 * x + 1 + 2 * which,
        };
        self.image[at].number()
    }

    /// A sample of a sensor; beyond the edge the one that the edge mirrors.
    fn sensor(&self, x: isize, y: isize) -> f32 {
        let mirrored = |at: isize, len: usize| {
            let len = len as isize;
            let at = if at < 0 {
                -at
            } else if at >= len {
                2 * len - 2 - at
            } else {
                at
            };
            at.max(0) as usize
        };
        let [width, height] = self.size;
        self.image[mirrored(y, height) * self.pitch + mirrored(x, width)].number()
    }

    /// Red, green and blue of a sensor's pixel: its own sample, and the means of the nearest ones of the other colours.
    fn demosaiced(&self, x: isize, y: isize) -> [f32; 3] {
        let odd = |at: isize, red: u32| (at ^ red as isize) & 1 == 1;
        let (odd_x, odd_y) = (odd(x, self.red[0]), odd(y, self.red[1]));
        let own = self.sensor(x, y);
        let sides = self.sensor(x - 1, y) + self.sensor(x + 1, y);
        let ends = self.sensor(x, y - 1) + self.sensor(x, y + 1);
        if odd_x != odd_y {
            let (red, blue) = if odd_y { (ends, sides) } else { (sides, ends) };
            return [red * 0.5, own, blue * 0.5];
        }
        let corners = self.sensor(x - 1, y - 1)
            + self.sensor(x + 1, y - 1)
            + self.sensor(x - 1, y + 1)
            + self.sensor(x + 1, y + 1);
        let green = (sides + ends) * 0.25;
        if odd_x { [corners * 0.25, green, own] } else { [own, green, corners * 0.25] }
    }

    /// Blue and red chroma of a pixel.
    fn interpolated(&self, x: isize, y: isize) -> [f32; 2] {
        let is_422 = self.layout == 6;
        if self.siting == 0 {
            let y = if is_422 { y } else { y / 2 };
            return [0, 1].map(|which| self.chroma(x / 2, y, which));
        }
        // In quarters: where the pixel is between two samples.
        let from_x = 2 * x - isize::from(self.siting == 1);
        let from_y = if is_422 { 4 * y } else { 2 * y - isize::from(self.siting != 3) };
        let (i, j) = (from_x >> 2, from_y >> 2);
        let (fx, fy) = ((from_x & 3) as f32 * 0.25, (from_y & 3) as f32 * 0.25);
        [0, 1].map(|which| {
            let row = |j| {
                let (a, b) = (self.chroma(i, j, which), self.chroma(i + 1, j, which));
                fx.mul_add(b - a, a)
            };
            let (above, below) = (row(j), row(j + 1));
            fy.mul_add(below - above, above)
        })
    }

    /// The numbers of a pixel in the target's colours, and the opacity; beyond the edge those of the nearest pixel.
    fn pixel(&self, x: isize, y: isize) -> ([f32; 3], f32) {
        let (x, y) = (clamped(x, self.size[0]), clamped(y, self.size[1]));
        let first = y * self.pitch + x * self.step;
        let at = |i: usize| self.image[first + i].number();
        let (x, y) = (x as isize, y as isize);
        let s = match self.layout {
            0 => [at(0); 3],
            1 | 3 => [at(0), at(1), at(2)],
            2 => [at(2), at(1), at(0)],
            7 => self.demosaiced(x, y),
            _ => {
                let [blue, red] = self.interpolated(x, y);
                [at(0), blue, red]
            }
        };
        let opacity = if self.layout == 3 { at(3) } else { 0.0 };
        let numbers = self
            .matrix
            .map(|[a, b, c, offset]| a.mul_add(s[0], b.mul_add(s[1], c.mul_add(s[2], offset))));
        (numbers, opacity)
    }
}

fn clamped(at: isize, len: usize) -> usize {
    at.clamp(0, (len as isize - 1).max(0)) as usize
}

/// The kernel of [`Convert`](super::Convert). The layouts and sitings are the numbers of their enumerations. A pixel's three numbers are
/// those of the matrix `m` times its samples, plus `o`; whole numbers are rounded, limited to 0 and `limit`, and multiplied by `step`.
#[kernel(
    threads(128),
    partial,
    instances((u8, u8), (u8, u16), (u8, f32), (u16, u8), (u16, u16), (u16, f32), (f32, u8), (f32, u16), (f32, f32)),
    requires(
        fits(image.len(), source, width, height, pitch),
        fits(out.len(), target, width, height, out_pitch)
    ),
    unsafe cuda = include_str!("convert.cu")
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes the fields of a struct one by one")]
pub(super) fn convert<A: Element + Sample, B: Element + Sample>(
    out: &mut [B],
    image: &[A],
    width: usize,
    height: usize,
    pitch: usize,
    out_pitch: usize,
    source: u32,
    target: u32,
    siting: u32,
    target_siting: u32,
    red_x: u32,
    red_y: u32,
    m00: f32,
    m01: f32,
    m02: f32,
    o0: f32,
    m10: f32,
    m11: f32,
    m12: f32,
    o1: f32,
    m20: f32,
    m21: f32,
    m22: f32,
    o2: f32,
    opacity_scale: f32,
    limit: f32,
    step: f32,
    whole: Bool8,
) {
    let matrix = [[m00, m01, m02, o0], [m10, m11, m12, o1], [m20, m21, m22, o2]];
    let size = [width, height];
    let from = Source {
        image,
        layout: source,
        step: samples(source),
        size,
        pitch,
        siting,
        red: [red_x, red_y],
        matrix,
    };
    let to = samples(target);
    let code = |value: f32| {
        let code =
            if whole.get() { value.round_ties_even().clamp(0.0, limit) * step } else { value };
        B::cast(code)
    };
    for y in 0..height {
        for x in 0..width {
            let (numbers, opacity) = from.pixel(x as isize, y as isize);
            let at = &mut out[y * out_pitch + x * to..];
            match target {
                1 | 3 => {
                    (at[0], at[1], at[2]) = (code(numbers[0]), code(numbers[1]), code(numbers[2]))
                }
                2 => (at[0], at[1], at[2]) = (code(numbers[2]), code(numbers[1]), code(numbers[0])),
                _ => at[0] = code(numbers[0]),
            }
            if target == 3 {
                at[3] = if source == 3 { code(opacity * opacity_scale) } else { B::cast(limit) };
            }
        }
    }
    if !matches!(target, 4..=6) {
        return;
    }
    let is_420 = target != 6;
    for y in (0..height).step_by(if is_420 { 2 } else { 1 }) {
        for x in (0..width).step_by(2) {
            let [blue, red] =
                chroma_of(&from, x as isize, y as isize, is_420, target_siting).map(code);
            let planes = height * out_pitch;
            let half = out_pitch / 2;
            let [at_blue, at_red] = match target {
                4 => [0, 1].map(|which| planes + y / 2 * out_pitch + x + which),
                5 => [0, 1].map(|which| planes + (which * (height / 2) + y / 2) * half + x / 2),
                _ => [1, 3].map(|which| y * out_pitch + 2 * x + which),
            };
            (out[at_blue], out[at_red]) = (blue, red);
        }
    }
}

/// The chroma of the pixels that share a sample.
fn chroma_of<A: Sample>(
    from: &Source<'_, A>,
    x: isize,
    y: isize,
    is_420: bool,
    siting: u32,
) -> [f32; 2] {
    let at = |x, y| from.pixel(x, y).0;
    if siting < 2 {
        return [1, 2].map(|k| {
            let above = at(x, y)[k] + at(x + 1, y)[k];
            if is_420 {
                (above + (at(x, y + 1)[k] + at(x + 1, y + 1)[k])) * 0.25
            } else {
                above * 0.5
            }
        });
    }
    let (first, last) = if is_420 { (-isize::from(siting == 3), 1) } else { (0, 0) };
    let (mut sum, mut all) = ([0.0; 2], 0.0);
    for dy in first..=last {
        for dx in -1..=1 {
            let across: f32 = if dx == 0 { 2.0 } else { 1.0 };
            let weight = across * if first < 0 && dy == 0 { 2.0 } else { 1.0 };
            let numbers = at(x + dx, y + dy);
            sum = [weight.mul_add(numbers[1], sum[0]), weight.mul_add(numbers[2], sum[1])];
            all += weight;
        }
    }
    sum.map(|sum| sum / all)
}
