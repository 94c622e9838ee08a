// `?` on errors of other crates, and of the program itself.
use streamflow::prelude::*;

#[derive(Debug)]
struct Own;

#[operator]
pub struct Count {
    #[output]
    number: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        let text = std::fs::read_to_string("count")?;
        let number: u64 = text.trim().parse()?;
        let own: u64 = Err(Own)?;
        let text: u64 = Err("text")?;
        io.number.emit(number + own + text)
    }
}

fn main() -> Result<()> {
    let text = std::fs::read_to_string("count")?;
    println!("{text}");
    Ok(())
}
