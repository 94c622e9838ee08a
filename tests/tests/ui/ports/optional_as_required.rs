use streamflow::prelude::*;

#[operator]
pub struct Count {
    #[input(optional)]
    gain: &f32,
    #[output]
    twice: f32,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        let gain: &f32 = io.gain.receive().into_data();
        io.twice.emit(gain * 2.0)
    }
}

fn main() {}
