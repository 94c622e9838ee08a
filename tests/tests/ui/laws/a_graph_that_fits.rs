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
pub struct Print {
    #[input]
    text: String,
}

impl Compute for Print {
    fn compute(&mut self, io: PrintIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{}", io.text.receive().into_data());
        Ok(())
    }
}

graph! {
    pub struct Mismatch {
        let numbers: Numbers = Numbers::new();
        let print: Print = Print::new();

        numbers.number >> print.text;
    }
}

fn main() {}
