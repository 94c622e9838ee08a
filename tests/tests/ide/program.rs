//! The program that the editor has open.

/// The text of the program. A case replaces a part such as `/*edge*/` by text that a user types.
pub(crate) const PROGRAM: &str = r#"use streamflow::prelude::*;

/// Makes frames.
#[operator]
pub struct Camera {
    /// The frame of this tick.
    #[output]
    frame: Tensor<u8>,
}

/// Bytes to floats.
#[operator]
pub struct Cast {
    /// Bytes.
    #[input]
    src: &Tensor<u8>,
    #[output]
    dst: Tensor<f32>,
    /// The factor.
    #[param]
    gain: f32,
    /*field*/
}

impl Compute for Cast {
    fn compute(&mut self, io: CastIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let gain = self.gain;
        /*compute*/
        Ok(())
    }
}

#[operator]
pub struct Fuse {
    #[input]
    left_image: &Tensor<f32>,
    #[input]
    right_image: &Tensor<f32>,
    #[output]
    depth: Tensor<f32>,
}

graph! {
    /// Two cameras.
    pub struct Stereo(frames: u64) {
        /// Streams of the GPU.
        const GPU: CudaStreamPool = CudaStreamPool::new();
        let STREAMS = CudaStreamPool::new();

        #[when(count(frames))]
        let left: Camera = Camera::new();
        let right: Camera = Camera::new();
        #[streams(GPU)]
        #[when(stream_done(src))]
        let cast: Cast = Cast::new(1.0);
        #[streams(STREAMS)]
        let fuse: Fuse = Fuse::new();

        /*edge*/
        left.frame >> cast.src;
        #[capacity(2)]
        cast.dst >> (fuse.left_image, fuse.right_image);
        right.frame >> _;
        fuse.depth >> _;
        /*end*/
    }
}

graph! {
    /// Converts frames.
    pub struct Prepare(gain: f32) {
        /// The bytes of a camera.
        input bytes: &Tensor<u8>;
        output floats: Tensor<f32>;
        let inner: Cast = Cast::new(gain);
        bytes >> inner.src;
        inner.dst >> floats;
        /*inside*/
    }
}

graph! {
    pub struct Prepared {
        let source: Camera = Camera::new();
        let prepare: Prepare = Prepare::new(1.0);
        source.frame >> prepare.bytes;
        prepare.floats >> _;
        let many: [Prepare; 3] = |i| Prepare::new(i as f32);
        for i in 0..3 {
            source.frame >> many[i].bytes;
            many[i].floats >> _;
            /*loop*/
        }
        /*outside*/
    }
}

fn change(graph: &mut Prepared) {
    graph.prepare().inner();
    graph.params().prepare().inner().set_gain(2.0);
    graph.prepare_mut().inner_mut();
}

fn set(graph: &mut Stereo) {
    graph.params().cast().set_gain(2.0);
    graph.cast_mut();
    graph.cast();
}

#[operator]
pub struct Choose {
    #[input]
    number: &u64,
    /// Numbers of 100 and more.
    #[output(branch)]
    great: u64,
    #[output(branch)]
    tiny: u64,
}

impl Compute for Choose {
    fn compute(&mut self, io: ChooseIo<'_>, cx: &ExecutionContext) -> Result<()> {
        /*choose*/
        Ok(())
    }
}
"#;
