// A derive above `#[operator]`, in a whole program.
use streamflow::prelude::*;

#[derive(Debug, Clone)]
#[operator]
pub struct Count {
    #[output]
    number: u64,
    step: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick() * self.step)
    }
}

graph! {
    pub struct App {
        #[when(count(3))]
        let count: Count = Count::new(2);

        count.number >> _;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
