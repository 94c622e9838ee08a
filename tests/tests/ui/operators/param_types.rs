//! Parameters of types that can't be set from another thread, or read from a file.

use streamflow::prelude::*;

#[derive(Clone, Debug)]
struct Window {
    guard: u32,
}

#[operator]
struct Cfar {
    #[input]
    frame: u64,
    #[param]
    weights: Tensor<f32>,
    #[param]
    window: Window,
}

impl Compute for Cfar {
    fn compute(&mut self, io: CfarIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        let _ = (self.weights.len(), self.window.guard);
        Ok(())
    }
}

graph! {
    struct Radar(source: Source, cfar: Cfar) {
        let frames: Source = source;
        let detect: Cfar = cfar;
        frames.frame >> detect.frame;
    }
}

#[operator]
struct Source {
    #[output]
    frame: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.emit(cx.tick())
    }
}

fn main() {}
