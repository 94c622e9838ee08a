//! A simulated antenna, and the targets that it sees.

use std::f32::consts::TAU;

use streamflow::memory::Complex;
use streamflow::prelude::*;

use super::{CHANNELS, CODE, PULSES, SAMPLES};

/// An object that reflects pulses.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The range cell: by how many samples the echo is later than the pulse.
    pub range: usize,
    /// The Doppler cell: how many turns the phase of the echo makes over all pulses.
    pub doppler: usize,
    /// How many turns the phase makes over all channels: from the first channel to one after the last.
    pub bearing: f32,
    /// The amplitude of the echo in a channel. The amplitude of the noise is at most 1 in each of its two parts.
    pub amplitude: f32,
}

/// The targets that the antenna sees, with which the found ones are compared.
pub const TARGETS: [Target; 5] = [
    Target { range: 40, doppler: 3, bearing: 0.0, amplitude: 0.30 },
    Target { range: 64, doppler: 3, bearing: 2.0, amplitude: 0.12 },
    Target { range: 120, doppler: 20, bearing: 5.0, amplitude: 0.10 },
    Target { range: 120, doppler: 27, bearing: -3.0, amplitude: 0.20 },
    Target { range: 200, doppler: 11, bearing: 7.0, amplitude: 0.08 },
];

/// Emits the signals that the channels receive after each pulse: the echoes of the targets, and noise.
#[operator(streams(listen), no_new)]
pub struct Antenna {
    /// The samples, with the dimensions channels, pulses and samples of a pulse.
    #[output]
    echoes: Tensor<Complex<f32>>,
    scene: Tensor<Complex<f32>>,
}

impl Antenna {
    /// Computes the echoes of the targets once.
    ///
    /// # Errors
    /// Those of the platform: out of memory.
    pub fn new(platform: &Platform) -> Result<Self> {
        Ok(Self { scene: platform.upload(&scene())? })
    }
}

impl Compute for Antenna {
    fn compute(&mut self, io: AntennaIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.listen)?;
        let mut echoes = cx.tensor([CHANNELS, PULSES, SAMPLES], &stream)?;
        stream.launch::<listen>(echoes.len(), (&mut echoes, &self.scene, cx.tick() as u32))?;
        io.echoes.set_cuda_stream(&stream).emit(echoes)
    }
}

/// `echoes = scene + noise`. The noise differs from tick to tick. Its real and imaginary part are in `-1.0..1.0`, and exact.
#[kernel(requires(echoes.len() == scene.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= echoes_len) return;
    float parts[2];
    for (unsigned int part = 0; part < 2; part++) {
        unsigned int h = (2 * (unsigned int)i + part) * 2654435769u + tick * 40503u;
        h = (h ^ (h >> 15)) * 739982445u;
        h ^= h >> 12;
        parts[part] = (float)(h >> 8) * 0x1p-23f - 1.0f;
    }
    echoes[i] = scene[i] + complex<float>(parts[0], parts[1]);
")]
pub fn listen(echoes: &mut [Complex<f32>], scene: &[Complex<f32>], tick: u32) {
    let noise = |i: u32| {
        let h = i.wrapping_mul(2_654_435_769).wrapping_add(tick.wrapping_mul(40_503));
        let h = (h ^ (h >> 15)).wrapping_mul(739_982_445);
        ((h ^ (h >> 12)) >> 8) as f32 * 2.0_f32.powi(-23) - 1.0
    };
    for (i, (echo, scene)) in (0_u32..).zip(echoes.iter_mut().zip(scene)) {
        *echo = scene + Complex::new(noise(2 * i), noise(2 * i + 1));
    }
}

/// The echoes of all targets, without noise.
fn scene() -> Vec<Complex<f32>> {
    let mut scene = vec![Complex::ZERO; CHANNELS * PULSES * SAMPLES];
    for (i, samples) in scene.chunks_mut(SAMPLES).enumerate() {
        let (channel, pulse) = ((i / PULSES) as f32, (i % PULSES) as f32);
        for Target { range, doppler, bearing, amplitude } in TARGETS {
            let turns =
                doppler as f32 * pulse / PULSES as f32 + bearing * channel / CHANNELS as f32;
            let echo = Complex::from_polar(amplitude, TAU * turns);
            samples[range..].iter_mut().zip(CODE).for_each(|(sample, chip)| *sample += echo * chip);
        }
    }
    scene
}

/// Returns how many targets were found, and how many cells without a target were found.
pub fn score(found: &[u8]) -> (usize, usize) {
    let is_hit = |target: &&Target| found[target.doppler * SAMPLES + target.range] != 0;
    let hits = TARGETS.iter().filter(is_hit).count();
    (hits, found.iter().filter(|&&found| found != 0).count() - hits)
}
