// The first message must have the edge's type.
use streamflow::prelude::*;

#[operator]
pub struct Count {
    #[input]
    before: u64,
    #[output]
    now: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.now.emit(io.before.receive().into_data() + 1)
    }
}

graph! {
    pub struct Loop {
        #[when(count(3))]
        let count: Count = Count::new();
        #[feedback(initial = "zero")]
        count.now >> count.before;
    }
}

fn main() {}
