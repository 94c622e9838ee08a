//! The application with the kernels of a PTX file: wired by hand, and as operators.

use streamflow::kernel::{CompiledCode, Function};
use streamflow::prelude::*;

/// The functions of the PTX.
#[derive(Clone)]
pub(crate) struct Functions {
    source: Function,
    mulsum: Function,
}

impl Functions {
    pub(crate) fn new(platform: &Platform, ptx: &[u8]) -> Result<Self> {
        // SAFETY: `--ptx` names a file with PTX, and the driver checks PTX.
        let module = platform.module(device(0), unsafe { CompiledCode::new(ptx) })?;
        let source = module.function("_Z6sourcePfi")?;
        Ok(Self { source, mulsum: module.function("_Z6mulsumPKfS0_Pfi")? })
    }

    fn fill(&self, image: &mut Tensor<f32>, stream: &CudaStream) -> Result<()> {
        let len = image.len();
        // SAFETY: `source(float* out, int n)` writes the first n elements.
        unsafe {
            Ok(stream.launch_function(&self.source, Grid::elements(len).threads(256), |args| {
                args.write_address("out", image);
                args.scalar(len as i32);
            })?)
        }
    }

    fn multiply_and_sum(
        &self,
        a: &Tensor<f32>,
        b: &Tensor<f32>,
        sums: &mut Tensor<f32>,
        stream: &CudaStream,
    ) -> Result<()> {
        let grid = Grid::blocks(a.rows()).threads(256);
        // SAFETY: `mulsum(const float* a, const float* b, float* out, int cols)` reads rows x cols
        // elements of each image and writes one per block.
        unsafe {
            Ok(stream.launch_function(&self.mulsum, grid, |args| {
                args.read_address("a", a);
                args.read_address("b", b);
                args.write_address("out", sums);
                args.scalar(a.cols() as i32);
            })?)
        }
    }
}

/// The application with the kernels of the PTX, wired by hand.
pub(crate) struct Foreign {
    platform: Platform,
    shape: [usize; 2],
    streams: [CudaStream; 4],
    functions: Functions,
}

impl Foreign {
    pub(crate) fn new(
        platform: &Platform,
        shape: [usize; 2],
        functions: Functions,
    ) -> Result<Self> {
        let pool = platform.stream_pool("STREAMS", &CudaStreamPool::new().max_size(5))?;
        let names = ["source1", "source2", "combine_and_sum", "rx"];
        let [a, b, c, d] = names.map(|name| pool.allocate(name));
        Ok(Self { platform: platform.clone(), shape, streams: [a?, b?, c?, d?], functions })
    }

    pub(crate) fn tick(&mut self) -> Result<Download<f32>> {
        let [source1, source2, combine, sink] = &self.streams;
        let mut a = self.platform.tensor(self.shape, source1)?;
        self.functions.fill(&mut a, source1)?;
        let mut b = self.platform.tensor(self.shape, source2)?;
        self.functions.fill(&mut b, source2)?;
        let mut sums = self.platform.tensor([a.rows()], combine)?;
        self.functions.multiply_and_sum(&a, &b, &mut sums, combine)?;
        Ok(self.platform.download(&sums, sink)?)
    }
}

/// The source as an operator.
#[operator(streams(fill))]
pub(crate) struct ForeignSource {
    #[output]
    image: Tensor<f32>,
    shape: [usize; 2],
    functions: Functions,
}

impl Compute for ForeignSource {
    fn compute(&mut self, io: ForeignSourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor(self.shape, &stream)?;
        self.functions.fill(&mut image, &stream)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// The operator that multiplies the two images and sums each row.
#[operator]
pub(crate) struct ForeignCombine {
    #[input]
    in1: &Tensor<f32>,
    #[input]
    in2: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    functions: Functions,
}

impl Compute for ForeignCombine {
    fn compute(&mut self, io: ForeignCombineIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, stream) = io.in1.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.in2.receive().receive_cuda_stream(cx)?;
        let mut sums = cx.tensor([a.rows()], &stream)?;
        self.functions.multiply_and_sum(a, b, &mut sums, &stream)?;
        io.out.emit(sums)
    }
}
