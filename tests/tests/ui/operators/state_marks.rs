// `#[state]` where it can't be, and misspelt.
use streamflow::prelude::*;

#[operator]
pub struct Count {
    #[input]
    #[state]
    number: u64,
    #[state]
    #[state]
    count: u64,
    #[state(7)]
    sum: u64,
    #[stat]
    last: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.last = io.number.receive().into_data();
        self.sum += self.last;
        self.count += 1;
        Ok(())
    }
}

#[operator(no_new)]
pub struct Own {
    #[input]
    number: u64,
    #[state]
    count: u64,
}

impl Own {
    pub fn new() -> Self {
        Self { count: 0 }
    }
}

fn main() {
    let _ = (Count::new(), Own::new());
}
