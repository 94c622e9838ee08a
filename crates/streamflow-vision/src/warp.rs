//! `Warp`: images moved, turned, sheared or bent.

use std::fmt;
use std::marker::PhantomData;

use streamflow::kernel::Number;
use streamflow::prelude::*;
use streamflow::{Failure, Table};

use crate::format::Packed;
use crate::image::{Image, Info};
use crate::sample::Sample;
use crate::sampling::{Border, Interpolation, place, rounded, weight};

/// Moves, turns, shears or projects images: pixel `(x, y)` of the image goes to the place that a matrix gives, as by OpenCV's
/// `warpAffine` and `warpPerspective`. Pixels beyond the image are those of a [`Border`], by default 0.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::Warp;
/// use streamflow_vision::format::Rgb;
///
/// # fn main() -> streamflow::Result<()> {
/// // Three pixels to the right and half of one down.
/// let moved: Warp<Rgb<u8>> = Warp::affine([[1.0, 0.0, 3.0], [0.0, 1.0, 0.5]], [640, 480])?;
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Warp<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The images of the operator's size, without padding.
    #[output]
    warped: Image<F>,
    /// The matrix from a pixel of the result to its place in the image.
    back: [[f64; 3]; 3],
    size: [usize; 2],
    look: Look,
    /// The places of the kernel, which this operator has not.
    no_places: Table<f32>,
    of: PhantomData<fn(F)>,
}

/// Makes images whose pixel `(x, y)` is that at a given place of the input, as OpenCV's `remap`: to undistort the image of a lens.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::format::Grey;
/// use streamflow_vision::{Border, Interpolation, Remap};
///
/// let remap: Remap<Grey<f32>> = Remap::new(Interpolation::Cubic, Border::Nearest);
/// ```
#[operator(no_new, unlisted)]
pub struct Remap<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The places, of the shape `[height, width, 2]`: of each pixel of the result `x` and `y` in the image. NaN is beyond the image.
    #[input]
    places: &Tensor<f32>,
    /// The images, with a pixel for each place, without padding.
    #[output]
    remapped: Image<F>,
    look: Look,
    of: PhantomData<fn(F)>,
}

/// Which samples make a pixel.
#[derive(Debug, Clone, Copy)]
struct Look {
    interpolation: Interpolation,
    border: Border,
}

impl<F: Packed> Warp<F> {
    /// Creates an operator for the places `m * [x, y, 1]`, and results of the size `[width, height]`.
    ///
    /// # Errors
    /// An error for a matrix that has no inverse, or with numbers that are not finite.
    pub fn affine(matrix: [[f32; 3]; 2], size: [usize; 2]) -> Result<Self> {
        Self::perspective([matrix[0], matrix[1], [0.0, 0.0, 1.0]], size)
    }

    /// Creates an operator for the places `[u / w, v / w]`, where `[u, v, w]` is `m * [x, y, 1]`, and results of the size `[width, height]`.
    ///
    /// # Errors
    /// An error for a matrix that has no inverse, or with numbers that are not finite.
    pub fn perspective(matrix: [[f32; 3]; 3], size: [usize; 2]) -> Result<Self> {
        let Some(back) = inverse(matrix.map(|row| row.map(f64::from))) else {
            return Err(Failure::msg(format!(
                "`Warp` can't go back from the places of the matrix {matrix:?}, since it has no inverse; give it one that has"
            )));
        };
        let look =
            Look { interpolation: Interpolation::Linear, border: Border::Constant([0.0; 4]) };
        Ok(Self { back, size, look, no_places: Table::new(vec![0.0]), of: PhantomData })
    }

    /// Sets the interpolation, by default `Linear`.
    #[must_use = "it returns the operator with this interpolation"]
    pub fn with_interpolation(mut self, interpolation: Interpolation) -> Self {
        self.look.interpolation = interpolation;
        self
    }

    /// Sets the pixels beyond the image.
    #[must_use = "it returns the operator with this border"]
    pub fn with_border(mut self, border: Border) -> Self {
        self.look.border = border;
        self
    }
}

impl<F: Packed> Remap<F> {
    /// Creates an operator with this interpolation, and these pixels beyond the image.
    pub fn new(interpolation: Interpolation, border: Border) -> Self {
        Self { look: Look { interpolation, border }, of: PhantomData }
    }
}

/// The inverse of a matrix, if it has one.
fn inverse(m: [[f64; 3]; 3]) -> Option<[[f64; 3]; 3]> {
    let minor = |i: usize, j: usize| -> f64 {
        let at = |di: usize, dj: usize| m[(i + di) % 3][(j + dj) % 3];
        at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
    };
    let determinant: f64 = (0..3).map(|j| m[0][j] * minor(0, j)).sum();
    let mut back = [[0.0_f64; 3]; 3];
    for (i, row) in back.iter_mut().enumerate() {
        for (j, number) in row.iter_mut().enumerate() {
            *number = minor(j, i) / determinant;
        }
    }
    back.iter().flatten().all(|number: &f64| number.is_finite()).then_some(back)
}

impl Look {
    fn view<F: Packed>(
        self,
        image: &Image<F>,
        back: [[f64; 3]; 3],
        width: usize,
        has_places: bool,
    ) -> View {
        View {
            back,
            has_places,
            width,
            size: [image.width() as i64, image.height() as i64],
            pitch: image.pitch(),
            channels: F::CHANNELS,
            kind: self.interpolation as u32,
            border: self.border.code(),
            constant: self.border.constant(),
            whole: F::Sample::IS_WHOLE,
            limit: F::Sample::FULL,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Warp<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let [width, height] = self.size;
        let Some(row) = width.checked_mul(F::CHANNELS) else {
            return Err(Failure::msg(format!(
                "`Warp` can't make images of {width} × {height} pixels; give it a smaller size"
            )));
        };
        let mut out = cx.tensor([height, row], &stream)?;
        let view = self.look.view(image, self.back, width, false);
        stream.map::<warp<F::Sample>>((&mut out, image.samples(), self.no_places.on(cx)?, view))?;
        io.warped.emit(Image::of(out, Info { width, height, ..image.info() }))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Remap<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let (places, _) = io.places.receive_with_stream(cx)?;
        let &[height, width, 2] = places.shape() else {
            return Err(Failure::msg(format!(
                "`Remap` received places of the shape {:?} at its input `places`; send [height, width, 2], x and y for each pixel",
                places.shape()
            )));
        };
        let mut out = cx.tensor([height, width * F::CHANNELS], &stream)?;
        let view = self.look.view(image, [[0.0; 3]; 3], width, true);
        stream.map::<warp<F::Sample>>((&mut out, image.samples(), places, view))?;
        io.remapped.emit(Image::of(out, Info { width, height, ..image.info() }))
    }
}

impl<F: Packed> fmt::Debug for Warp<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warp")
            .field("size", &self.size)
            .field("look", &self.look)
            .finish_non_exhaustive()
    }
}

impl<F: Packed> fmt::Debug for Remap<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remap").field("look", &self.look).finish_non_exhaustive()
    }
}

/// The arguments of a launch of [`warp`].
#[derive(Debug, Clone, Copy, KernelArg)]
struct View {
    back: [[f64; 3]; 3],
    has_places: bool,
    width: usize,
    size: [i64; 2],
    pitch: usize,
    channels: usize,
    kind: u32,
    border: u32,
    constant: [f32; 4],
    whole: bool,
    limit: f32,
}

/// The kernel of [`Warp`] and [`Remap`]. A place that is not finite, or more than 2^30 pixels away, is beyond the image.
#[kernel(map)]
fn warp<T: Number>(
    out: &mut T,
    #[at] [y, column]: [usize; 2],
    image: &[T],
    places: &[f32],
    view: View,
) {
    let channel = column % view.channels;
    let x = column / view.channels;
    let right = x as f64;
    let down = y as f64;
    let depth = view.back[2][0] * right + view.back[2][1] * down + view.back[2][2];
    let mut from_x = (view.back[0][0] * right + view.back[0][1] * down + view.back[0][2]) / depth;
    let mut from_y = (view.back[1][0] * right + view.back[1][1] * down + view.back[1][2]) / depth;
    if view.has_places {
        from_x = places[(y * view.width + x) * 2] as f64;
        from_y = places[(y * view.width + x) * 2 + 1] as f64;
    }
    let is_near = from_x.abs() < 1073741824.0 && from_y.abs() < 1073741824.0;
    let constant = view.constant[channel];
    let mut sum = constant;
    if is_near {
        if view.kind == 0 {
            let at_x = place((from_x + 0.5).floor() as i64, view.size[0], view.border);
            let at_y = place((from_y + 0.5).floor() as i64, view.size[1], view.border);
            if at_x >= 0 && at_y >= 0 {
                sum = image[at_y as usize * view.pitch + at_x as usize * view.channels + channel]
                    as f32;
            }
        } else {
            let reach = if view.kind == 2 { 2 } else { 1 };
            let first_x = from_x.floor();
            let first_y = from_y.floor();
            let part_x = (from_x - first_x) as f32;
            let part_y = (from_y - first_y) as f32;
            sum = 0.0;
            for j in 0..2 * reach {
                let at_y = place(first_y as i64 + j + 1 - reach, view.size[1], view.border);
                let of_row = weight(view.kind, (j + 1 - reach) as f32 - part_y, -0.75);
                for i in 0..2 * reach {
                    let at_x = place(first_x as i64 + i + 1 - reach, view.size[0], view.border);
                    let both = of_row * weight(view.kind, (i + 1 - reach) as f32 - part_x, -0.75);
                    if at_x >= 0 && at_y >= 0 {
                        let at =
                            at_y as usize * view.pitch + at_x as usize * view.channels + channel;
                        sum = both.mul_add(image[at] as f32, sum);
                    } else {
                        sum = both.mul_add(constant, sum);
                    }
                }
            }
        }
    }
    *out = rounded(sum, view.whole, view.limit) as T;
}
