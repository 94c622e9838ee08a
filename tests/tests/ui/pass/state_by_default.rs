// Fields that `new` makes: no caller names them, so their types may be private to the operator's module.
#![deny(private_interfaces, warnings)]

use streamflow::prelude::*;

mod counting {
    use streamflow::prelude::*;

    #[derive(Default)]
    struct Seen {
        count: u64,
    }

    /// Sums up to a limit.
    #[operator]
    pub struct Sum<W: Into<u64> + Copy + Send + 'static> {
        #[input]
        number: u64,
        #[state]
        seen: Seen,
        pub limit: u64,
        #[state]
        pub plan: Option<String>,
        weight: W,
        #[cfg(any())]
        #[state]
        left_out: Missing,
        #[state]
        #[param]
        offset: u64,
        pub sum: u64,
    }

    impl<W: Into<u64> + Copy + Send + 'static> Compute for Sum<W> {
        fn start(&mut self, _: SumStreams<'_>, _: &ExecutionContext) -> Result<()> {
            self.plan = Some("made".to_owned());
            Ok(())
        }

        fn compute(&mut self, io: Self::Io<'_>, _: &ExecutionContext) -> Result<()> {
            let number = io.number.receive().into_data();
            self.seen.count += 1;
            if self.seen.count <= self.limit {
                self.sum += number * self.weight.into() + self.offset;
            }
            Ok(())
        }
    }
}

use counting::Sum;

#[operator]
struct Numbers {
    #[output]
    number: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Summed {
        #[when(count(5))]
        let numbers: Numbers = Numbers::new();
        let sum: Sum<u8> = Sum::new(4, 10, 0);
        numbers.number >> sum.number;
    }
}

fn main() -> Result<()> {
    let mut graph = Summed::new(&Platform::host().build()?)?;
    assert_eq!(graph.sum().plan, None);
    graph.run()?;
    assert_eq!((graph.sum().sum, graph.sum().plan.as_deref()), (60, Some("made")));
    graph.params().sum().set_offset(1)?;
    assert_eq!(graph.params().sum().offset(), 1);
    Ok(())
}
