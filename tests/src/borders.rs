//! Ports of graphs inside of a graph that a test builds at run time, with the calls that `graph!` expands to.

use std::marker::PhantomData;

use streamflow::__private::{ExportedInput, ExportedOutput, Input, InputPort, Output, OutputPort};

/// Returns the type of an output.
pub fn of_output<P: OutputPort>(_: &Output<P>) -> PhantomData<P> {
    PhantomData
}

/// Returns the type of an input.
pub fn of_input<P: InputPort>(_: &Input<P>) -> PhantomData<P> {
    PhantomData
}

/// Returns an output of a graph that has the type of a node's output.
pub fn output<'a, P: OutputPort>(
    _: PhantomData<P>,
    port: ExportedOutput<'a, P>,
) -> ExportedOutput<'a, P> {
    port
}

/// Returns an input of a graph that has the type of a node's input.
pub fn input<'a, P: InputPort>(
    _: PhantomData<P>,
    port: ExportedInput<'a, P>,
) -> ExportedInput<'a, P> {
    port
}

/// Makes an output of a node the output of a graph around it, of a graph around that graph, and so on.
#[macro_export]
macro_rules! out_of_graphs {
    ($output:expr, $graphs:expr) => {{
        let of = $crate::borders::of_output(&*$output);
        let end = || ::streamflow::__private::InnerEnd::new("graph", "node", None, "output");
        let mut lent = ::streamflow::__private::lend($output, Some(end()));
        let mut port = $crate::borders::output(of, ::streamflow::__private::export(&mut lent));
        for _ in 1..$graphs {
            let mut lent = ::streamflow::__private::lend(&mut port, Some(end()));
            port = $crate::borders::output(of, ::streamflow::__private::export(&mut lent));
        }
        port
    }};
}

/// Makes an input of a node the input of a graph around it, of a graph around that graph, and so on.
#[macro_export]
macro_rules! into_graphs {
    ($input:expr, $graphs:expr) => {{
        let of = $crate::borders::of_input(&*$input);
        let end = || ::streamflow::__private::InnerEnd::new("graph", "node", None, "input");
        let mut lent = ::streamflow::__private::lend($input, Some(end()));
        let mut port = $crate::borders::input(of, ::streamflow::__private::import(&mut lent));
        for _ in 1..$graphs {
            let mut lent = ::streamflow::__private::lend(&mut port, Some(end()));
            port = $crate::borders::input(of, ::streamflow::__private::import(&mut lent));
        }
        port
    }};
}
