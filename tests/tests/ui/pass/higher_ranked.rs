// Functions as messages: higher-ranked types, several times and in several spellings.
use streamflow::prelude::*;

type Op = Box<dyn Fn(&u64) -> u64 + Send + Sync>;

#[derive(Message)]
pub struct Ops {
    first: HostData<fn(&u64) -> &u64>,
    second: HostData<for<'a> fn(&'a u64) -> &'a u64>,
    third: HostData<Op>,
    fourth: HostData<Op>,
}

#[operator]
pub struct Make {
    #[output]
    both: Ops,
    #[output]
    one: HostData<fn(&u64) -> &u64>,
    #[output]
    other: HostData<for<'a> fn(&'a u64) -> &'a u64>,
}

impl Compute for Make {
    fn compute(&mut self, io: MakeIo<'_>, _: &ExecutionContext) -> Result<()> {
        let (first, second) = (HostData(same as fn(&u64) -> &u64), HostData(same as _));
        let op = || HostData(Box::new(|number: &u64| *number) as Op);
        io.both.emit(Ops { first, second, third: op(), fourth: op() })?;
        io.one.emit(HostData(same as fn(&u64) -> &u64))?;
        io.other.emit(HostData(same as fn(&u64) -> &u64))
    }
}

fn same(number: &u64) -> &u64 {
    number
}

#[operator]
pub struct Take {
    #[input]
    both: &Ops,
    #[input]
    one: HostData<fn(&u64) -> &u64>,
    #[input]
    other: &HostData<fn(&u64) -> &u64>,
}

impl Compute for Take {
    fn compute(&mut self, io: TakeIo<'_>, _: &ExecutionContext) -> Result<()> {
        let both = io.both.receive().into_data();
        let (one, other) = (io.one.receive().into_data(), io.other.receive().into_data());
        assert_eq!((both.third)(one(other(&3))), (both.fourth)((both.first)((both.second)(&3))));
        Ok(())
    }
}

graph! {
    pub struct Functions {
        #[when(count(1))]
        let make: Make = Make::new();
        let take: Take = Take::new();

        make.both >> take.both;
        make.one >> take.one;
        make.other >> take.other;
    }
}

fn main() -> Result<()> {
    Functions::new(&Platform::host().build()?)?.run()?;
    Ok(())
}
