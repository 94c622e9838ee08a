// A message with a field that can't be copied: a download has one reader.
use streamflow::prelude::*;

#[derive(Message)]
pub struct Spectrum {
    pub gain: f32,
    pub values: Download<f32>,
}

#[operator]
pub struct Measure {
    #[output]
    spectrum: Spectrum,
}

impl Compute for Measure {
    fn compute(&mut self, io: MeasureIo<'_>, _: &ExecutionContext) -> Result<()> {
        let _ = io;
        Ok(())
    }
}

#[operator]
pub struct Show {
    #[input]
    spectrum: Spectrum,
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.spectrum.discard();
        Ok(())
    }
}

graph! {
    pub struct Copies {
        let measure: Measure = Measure::new();
        let show: Show = Show::new();
        let again: Show = Show::new();
        #[copy]
        measure.spectrum >> (show.spectrum, again.spectrum);
    }
}

fn main() {}
