//! A program of the published packages with all their features. `.ci/run packages` builds and runs it from the tarballs.

use streamflow::f16;
use streamflow::memory::dlpack::Abi;
use streamflow::prelude::*;
use streamflow_driver::driver::Layer;
use streamflow_math::fft::forward_real;
use streamflow_math::matmul::multiply;
use streamflow_math::random::Philox;
use streamflow_math::solve::solve;
use streamflow_math::sparse::{Csr, spmv};

/// A layer that changes no call: `streamflow_driver` is of the same version.
#[allow(dead_code)]
fn is_a_layer<L: Layer>() {}

/// Sends random numbers.
#[operator(streams(fill))]
struct Noise {
    #[output]
    values: Tensor<f32>,
    random: Philox<f32>,
}

impl Compute for Noise {
    fn compute(&mut self, io: NoiseIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut values = cx.tensor([4], &stream)?;
        self.random.uniform(&stream, &mut values)?;
        io.values.set_cuda_stream(&stream).emit(values)
    }
}

/// Computes by each library what must be equal to its input.
#[operator]
struct Same {
    #[input]
    values: &Tensor<f32>,
    ticks: usize,
}

impl Compute for Same {
    fn compute(&mut self, io: SameIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (values, stream) = io.values.receive().receive_cuda_stream(cx)?;
        let given: Vec<f32> = cx.download(values, &stream)?.wait_blocking()?.to_vec();

        let twice = cx.upload(&[2.0_f32, 0.0, 0.0, 2.0])?.reshape([2, 2])?;
        let product = multiply(cx, &stream, &twice, &twice)?;
        assert_eq!(*cx.download(&product, &stream)?.wait_blocking()?, [4.0, 0.0, 0.0, 4.0]);

        let side = cx.upload(&[2.0_f32, 6.0])?;
        let solution = solve(cx, &stream, &twice, &side)?.download(&stream)?;
        assert_eq!(*solution.wait_blocking()?, [1.0, 3.0]);

        let ones = Csr::upload(cx, [4, 4], &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[1.0; 4])?;
        let same = spmv(cx, &stream, &ones, values)?;
        assert_eq!(*cx.download(&same, &stream)?.wait_blocking()?, given[..]);

        let spectrum = forward_real(cx, &stream, values)?;
        let sum = cx.download(&spectrum, &stream)?.wait_blocking()?[0].re;
        assert!(
            (sum - given.iter().sum::<f32>()).abs() < 1e-5,
            "{sum} is not the sum of {given:?}"
        );
        self.ticks += 1;
        Ok(())
    }
}

graph! {
    /// Numbers, and what is equal to them.
    struct EveryFeature(count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(count(count))]
        let noise: Noise = Noise::new(Philox::new(7));
        #[streams(STREAMS)]
        let same: Same = Same::new(0);

        noise.values >> same.values;
    }
}

fn main() -> Result<()> {
    let platform = Platform::builder().host()?;
    let running = EveryFeature::new(&platform, 3)?.spawn()?;
    running.stop_on_signals()?;
    let report = running.join()?;
    print!("{report}");
    let half = f16::from_f32(0.5);
    println!("{half} {:?}", Abi::Versioned);
    Ok(())
}
