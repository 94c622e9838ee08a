//! The network: its training, and its outputs computed in double precision.

use super::images::{CLASSES, PIXELS, label, noise, pixels};

/// The number of neurons in the hidden layer.
pub const HIDDEN: usize = 96;

/// How many images the network is trained with. Their numbers begin at `FIRST`, far above those of the images that are read.
const TRAINING: u32 = 1000;
const FIRST: u32 = 1 << 20;

/// The number that training adds to the diagonal of the equations, so that the weights stay small.
const RIDGE: f64 = 100.0;

/// The weights and biases of the network. Weights are row by row, as the device gets them.
#[derive(Debug, Clone)]
pub struct Network {
    hidden: Vec<f32>,
    hidden_bias: Vec<f32>,
    output: Vec<f32>,
    output_bias: Vec<f32>,
}

impl Network {
    /// Trains a network. The hidden layer is random. The output layer solves `(HᵀH + ridge) W = HᵀY`, where `H` has the outputs
    /// of the hidden layer, and `Y` is 1 for the right class of each image.
    pub fn train() -> Self {
        let weight = |at: usize| noise(u32::MAX - at as u32) / 4.0;
        let hidden: Vec<f32> = (0..PIXELS * HIDDEN).map(weight).collect();
        let hidden_bias: Vec<f32> = (PIXELS * HIDDEN..(PIXELS + 1) * HIDDEN).map(weight).collect();

        // The equations have a row for each neuron and one for the bias, and `CLASSES` right-hand sides.
        const N: usize = HIDDEN + 1;
        let mut rows = vec![[0.0_f64; N + CLASSES]; N];
        for (at, row) in rows.iter_mut().enumerate() {
            row[at] = RIDGE;
        }
        for number in FIRST..FIRST + TRAINING {
            let mut inputs = neurons(&pixels(number), &hidden, &hidden_bias);
            inputs.iter_mut().for_each(|x| *x = x.max(0.0));
            inputs.push(1.0);
            for (row, x) in rows.iter_mut().zip(&inputs) {
                row.iter_mut().zip(&inputs).for_each(|(sum, y)| *sum += x * y);
                row[N + label(number)] += x;
            }
        }
        // The matrix is positive definite, so no pivot is 0.
        for at in 0..N {
            let pivot = rows[at];
            for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != at) {
                let factor = row[at] / pivot[at];
                row.iter_mut().zip(pivot).skip(at).for_each(|(x, pivot)| *x -= factor * pivot);
            }
        }
        let solved = rows
            .iter()
            .enumerate()
            .flat_map(|(at, row)| row[N..].iter().map(move |side| (side / row[at]) as f32));
        let mut output: Vec<f32> = solved.collect();
        let output_bias = output.split_off(HIDDEN * CLASSES);
        Self { hidden, hidden_bias, output, output_bias }
    }

    /// The weights of the hidden layer, `[PIXELS, HIDDEN]`, and its bias.
    pub fn hidden(&self) -> (&[f32], &[f32]) {
        (&self.hidden, &self.hidden_bias)
    }

    /// The weights of the output layer, `[HIDDEN, CLASSES]`, and its bias.
    pub fn output(&self) -> (&[f32], &[f32]) {
        (&self.output, &self.output_bias)
    }

    /// Returns the same network without its hidden layer's bias. This network reads digits worse.
    #[must_use]
    pub fn without_hidden_bias(&self) -> Self {
        Self { hidden_bias: vec![0.0; HIDDEN], ..self.clone() }
    }

    /// Computes the outputs for some images in double precision.
    pub fn outputs(&self, images: &[f32]) -> Vec<f64> {
        let outputs = images.chunks(PIXELS).flat_map(|image| {
            let mut inputs = neurons(image, &self.hidden, &self.hidden_bias);
            inputs.iter_mut().for_each(|x| *x = x.max(0.0));
            neurons(&inputs, &self.output, &self.output_bias)
        });
        outputs.collect()
    }
}

/// Computes `x w + b` for one row `x`.
fn neurons<T: Copy + Into<f64>>(x: &[T], weights: &[f32], bias: &[f32]) -> Vec<f64> {
    let mut sums: Vec<f64> = bias.iter().copied().map(f64::from).collect();
    for (&x, row) in x.iter().zip(weights.chunks(bias.len())) {
        let x: f64 = x.into();
        sums.iter_mut().zip(row).for_each(|(sum, &weight)| *sum += x * f64::from(weight));
    }
    sums
}
