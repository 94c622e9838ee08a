//! A small network of candle with weights from a formula, and the right results: those of candle on the CPU.

use candle_core::{DType, Device, Result, Tensor};

/// Images of three colours.
pub const SHAPE: [usize; 4] = [1, 3, 16, 16];
/// The elements of an image.
pub const INPUT: usize = 3 * 16 * 16;
/// The elements of a result.
pub const OUTPUT: usize = 10;
/// How many images there are. Their results differ.
pub const IMAGES: u64 = 8;
/// The image that memory holds before its producer has written it.
pub const BEFORE_INPUT: f32 = 3.0;
/// The result that memory holds before candle has written it.
pub const BEFORE_OUTPUT: f32 = -7.0;
/// By how much a result may differ from that of the CPU. cuBLAS adds 2,048 products of about 0.1 in another order.
pub const TOLERANCE: f32 = 1e-3;

const CHANNELS: usize = 8;

/// Element `at` of an image, or of weights. `kernels::produce` has the same formula.
pub fn value(at: usize, salt: u32) -> f32 {
    let mixed = (at as u32).wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(97_003_337));
    (mixed >> 20) as f32 / 4096.0 - 0.5
}

/// A convolution, a ReLU, and a product with a bias.
#[derive(Debug)]
pub struct Network {
    kernel: Tensor,
    weights: Tensor,
    bias: Tensor,
}

impl Network {
    /// The same network on any device.
    ///
    /// # Errors
    /// Those of candle.
    pub fn new(device: &Device) -> Result<Self> {
        let weights = |salt, shape: &[usize]| {
            let values: Vec<f32> = (0..shape.iter().product()).map(|at| value(at, salt)).collect();
            Tensor::from_vec(values, shape, device)
        };
        Ok(Self {
            kernel: weights(101, &[CHANNELS, SHAPE[1], 3, 3])?,
            weights: weights(102, &[CHANNELS * SHAPE[2] * SHAPE[3], OUTPUT])?,
            bias: weights(103, &[1, OUTPUT])?,
        })
    }

    /// The result for an image.
    ///
    /// # Errors
    /// Those of candle.
    pub fn forward(&self, image: &Tensor) -> Result<Tensor> {
        let features = image.conv2d(&self.kernel, 1, 1, 1, 1)?.relu()?;
        features.reshape((1, ()))?.matmul(&self.weights)?.add(&self.bias)
    }
}

/// Each result that can be found, of [`OUTPUT`] elements, as [`kernels::finish`](crate::kernels::finish) leaves it. Row `n` is image
/// `n`'s; the next ones are those of [`NAMES`].
///
/// # Errors
/// Those of candle.
pub fn rows() -> Result<Vec<f32>> {
    let network = Network::new(&Device::Cpu)?;
    let mut rows = Vec::new();
    for salt in 0..IMAGES as u32 {
        rows.push(network.forward(&image(salt)?)?.flatten_all()?.to_vec1::<f32>()?);
    }
    let before = Tensor::full(BEFORE_INPUT, &SHAPE[..], &Device::Cpu)?;
    rows.push(network.forward(&before)?.flatten_all()?.to_vec1()?);
    rows.push(vec![BEFORE_OUTPUT; OUTPUT]);
    rows.push(vec![0.0; OUTPUT]);
    Ok(rows.concat().iter().map(|y| 2.0 * y + 1.0).collect())
}

/// The rows after those of the images.
pub const NAMES: [&str; 3] =
    ["of memory before its producer", "of memory before candle", "of memory with zeros"];

/// An image on the CPU.
///
/// # Errors
/// Those of candle.
pub fn image(salt: u32) -> Result<Tensor> {
    let values: Vec<f32> = (0..INPUT).map(|at| value(at, salt)).collect();
    Tensor::from_vec(values, &SHAPE[..], &Device::Cpu)?.to_dtype(DType::F32)
}

/// The least difference between two rows, by their element that differs most.
pub fn least_difference(rows: &[f32]) -> f32 {
    let rows: Vec<&[f32]> = rows.chunks(OUTPUT).collect();
    let pairs = rows.iter().enumerate().flat_map(|(at, a)| rows[..at].iter().map(move |b| (a, b)));
    let most = |(a, b): (&&[f32], &&[f32])| {
        a.iter().zip(*b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    pairs.map(most).fold(f32::INFINITY, f32::min)
}
