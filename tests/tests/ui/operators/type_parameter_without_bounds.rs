use streamflow::prelude::*;

#[operator]
pub struct Apply<F: Fn(f32) -> f32> {
    #[input]
    x: &f32,
    #[output]
    y: f32,
    f: F,
}

impl<F: Fn(f32) -> f32> Compute for Apply<F> {
    fn compute(&mut self, io: ApplyIo<'_>, _: &ExecutionContext) -> Result<()> {
        let x = io.x.receive().into_data();
        io.y.emit((self.f)(*x))
    }
}

fn main() {}
