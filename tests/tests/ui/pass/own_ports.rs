// A type of the user's with the name that the ports of an operator could have.
use streamflow::prelude::*;

pub struct CountPorts {
    pub http: u16,
}

#[operator]
pub struct Count {
    #[output]
    number: u64,
    ports: CountPorts,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick() + u64::from(self.ports.http))
    }
}

graph! {
    pub struct App {
        #[when(count(3))]
        let count: Count = Count::new(CountPorts { http: 80 });

        count.number >> _;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
