use streamflow::prelude::*;

#[operator]
pub struct Numbers {
    #[output]
    number: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

#[operator]
pub struct Take {
    #[input]
    number: u64,
}

impl Compute for Take {
    fn compute(&mut self, io: TakeIo<'_>, _: &ExecutionContext) -> Result<()> {
        let _: u64 = io.number.receive().into_data();
        Ok(())
    }
}

graph! {
    pub struct FanOut {
        let numbers: Numbers = Numbers::new();
        let one: Take = Take::new();
        let other: Take = Take::new();

        numbers.number >> (one.number, other.number);
    }
}

fn main() {}
