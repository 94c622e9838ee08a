//! A parameter that is set to a value of another type, and one that is not there.

use streamflow::prelude::*;

#[operator]
struct Cfar {
    #[input]
    frame: u64,
    #[param(range = 0.0..=1.0)]
    threshold: f32,
}

impl Compute for Cfar {
    fn compute(&mut self, io: CfarIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        Ok(())
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

graph! {
    struct Radar() {
        let frames: Source = Source::new();
        let cfar: Cfar = Cfar::new(0.5);
        frames.frame >> cfar.frame;
    }
}

fn set(radar: &Radar) -> Result<()> {
    radar.params().cfar().set_threshold(1)?;
    radar.params().cfar().set_treshold(1.0)?;
    radar.params().frames().set_rate(1.0)?;
    radar.params().cfra().set_threshold(1.0)
}

fn main() {}
