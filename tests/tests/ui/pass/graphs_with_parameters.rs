// Graphs with parameters in a module, in a function and in the expansion of a macro, with names that the expansion also has.
#![deny(warnings, missing_docs)]
#![allow(non_upper_case_globals)]
//! A program.
use streamflow::prelude::*;

pub mod interfaces {
    //! Interfaces of another module.
    use streamflow::prelude::*;

    operator_interface! {
        /// A source of numbers.
        pub trait Source {
            /// The number.
            output r#type: u64;
        }
    }

    operator_interface! {
        /// A step.
        #[allow(dead_code)]
        pub(crate) trait Step {
            input ports: &u64;
            output made: u64;
        }
    }

    /// A source of the numbers of its ticks.
    #[operator(implements(Source))]
    #[derive(Debug)]
    pub struct Count {
        #[output]
        r#type: u64,
    }

    impl Compute for Count {
        fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
            io.r#type.emit(cx.tick())
        }
    }
}

/// Adds a number, and implements an interface of another module.
#[operator(implements(interfaces::Step))]
struct Add<const BY: u64> {
    #[input]
    ports: &u64,
    #[output]
    made: u64,
}

impl<const BY: u64> Compute for Add<BY> {
    fn compute(&mut self, io: AddIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.made.emit(io.ports.receive().into_data() + BY)
    }
}

/// Hands a message on.
#[operator]
struct Hand<M: Clone + Send + Sync + 'static> {
    #[input]
    src: &HostData<M>,
    #[output]
    dst: HostData<M>,
}

impl<M: Clone + Send + Sync + 'static> Compute for Hand<M> {
    fn compute(&mut self, io: HandIo<'_, M>, _: &ExecutionContext) -> Result<()> {
        io.dst.emit(HostData(io.src.receive().into_data().0.clone()))
    }
}

/// Wraps a number.
#[operator]
struct Wrap {
    #[input]
    n: &u64,
    #[output]
    wrapped: HostData<u64>,
}

impl Compute for Wrap {
    fn compute(&mut self, io: WrapIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.wrapped.emit(HostData(*io.n.receive().into_data()))
    }
}

#[operator]
struct Keep {
    #[input]
    n: &HostData<u64>,
    got: Vec<u64>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(io.n.receive().into_data().0);
        Ok(())
    }
}

graph! {
    /// A step of steps.
    #[implements(interfaces::Step)]
    pub(crate) struct Steps<M, T, const LEN: usize = 2>(value: fn(usize) -> New<T>, path: M)
    where
        T: interfaces::Step,
        M: Clone + Send + 'static,
        Vec<M>: Send,
    {
        input ports: &u64;
        output made: u64;
        let options: [T; LEN] = |name| {
            let _ = path.clone();
            value(name)
        };
        let inside: Typed<M> = Typed::new();
        ports >> options[0].ports;
        for i in 1..LEN {
            options[i - 1].made >> options[i].ports;
        }
        options[LEN - 1].made >> inside.src;
        inside.dst >> made;
    }
}

/// An operator with a type parameter that is no interface.
#[operator]
struct Typed<A: Send + 'static> {
    #[input]
    src: &u64,
    #[output]
    dst: u64,
    #[state]
    none: std::marker::PhantomData<fn() -> A>,
}

impl<A: Send + 'static> Compute for Typed<A> {
    fn compute(&mut self, io: TypedIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.dst.emit(*io.src.receive().into_data())
    }
}

graph! {
    /// Ports whose messages have the parameter.
    struct Handed<P: Clone + Send + Sync + 'static> {
        input src: &HostData<P>;
        output dst: HostData<P>;
        let hand: Hand<P> = Hand::new();
        let again: Hand<P> = Hand::new();
        src >> hand.src;
        hand.dst >> again.src;
        again.dst >> dst;
    }
}

graph! {
    /// Names and bounds that the expansion has, too.
    struct Named<V, F: for<'a> Fn(&'a u64) -> u64 + Clone + Send, const made: usize>(of: F, value: fn() -> New<V>)
    where
        V: interfaces::Step,
    {
        input options: &u64;
        output list: u64;
        let path: V = {
            let _ = of(&(made as u64));
            value()
        };
        options >> path.ports;
        path.made >> list;
    }
}

graph! {
    /// A graph around it.
    struct AroundNamed {
        let count: interfaces::Count = interfaces::Count::new();
        let named: Named<Add<1>, fn(&u64) -> u64, 3> = Named::new(|n| *n, Add::new);
        count.r#type >> named.options;
        named.list >> _;
    }
}

macro_rules! declare {
    ($name:ident, $interface:path, $length:expr) => {
        graph! {
            /// A graph that a macro declares.
            struct $name<S: $interface, A: interfaces::Step>(source: New<S>, step: fn(usize) -> New<A>) {
                let source: S = source;
                let steps: [A; $length] = |i| step(i);
                let wrap: Wrap = Wrap::new();
                let handed: Handed<u64> = Handed::new();
                let keep: Keep = Keep::new(Vec::new());
                source.r#type >> steps[0].ports;
                steps[0].made >> steps[1].ports;
                steps[1].made >> wrap.n;
                wrap.wrapped >> handed.src;
                handed.dst >> keep.n;
            }
        }
    };
}

declare!(Declared, interfaces::Source, 2);

fn in_a_function() -> Result<Vec<u64>> {
    use interfaces::{Count, Source};

    graph! {
        struct Local<__S: Source>(source: New<__S>) {
            let source: __S = source;
            let wrap: Wrap = Wrap::new();
            let keep: Keep = Keep::new(Vec::new());
            source.r#type >> wrap.n;
            wrap.wrapped >> keep.n;
        }
    }

    let mut local = Local::<Count>::new(&Platform::detect()?, Count::new())?;
    local.run_for(2)?;
    Ok(local.keep().got.clone())
}

fn generic<S: interfaces::Source>(source: New<S>) -> Result<Vec<u64>> {
    let mut graph = Declared::<S, Steps<u8, Add<10>>>::new(&Platform::detect()?, source, |_| {
        Steps::new(|_| Add::new(), 1)
    })?;
    graph.run_for(2)?;
    let _ = graph.params().steps().count();
    Ok(graph.keep().got.clone())
}

fn main() -> Result<()> {
    AroundNamed::new(&Platform::detect()?)?.run_for(1)?;
    assert_eq!(in_a_function()?, [0, 1]);
    assert_eq!(generic::<interfaces::Count>(interfaces::Count::new())?, [40, 41]);
    Ok(())
}
