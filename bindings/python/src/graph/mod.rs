//! Graphs as classes of Python: [`export!`](crate::export) makes a class from a `graph!`.
//!
//! A graph runs on its own thread. The thread calls no code of Python and never takes the interpreter lock. Python programs use
//! the graph by its ports. A port is a bounded queue (`queue.rs`) between a Python object (`input.rs`, `output.rs`, and their
//! common part `port.rs`) and an operator of the graph (`operators.rs`). The node of this operator has a condition that the port
//! wakes. `message.rs` has the messages that go through a port, `run.rs` the state that the objects of one run share,
//! `running.rs` and `report.rs` the run as Python sees it, `class.rs` the base class of all graphs, and `export.rs` the macro.
//!
//! # Order
//! A pushed array becomes a tensor of the port's stream. The library that has produced the array makes this stream wait for its
//! work, and the stream of the port's operator waits for this stream. A taken message carries the point at which it is ready, and
//! the stream of its port waits for that point.
//!
//! # Operators in Python
//! A graph has no nodes written in Python. An operator in Python is code that takes from one port and pushes to another. Code that
//! holds messages back needs [`FlushToPython`] at its input, which tells the code, as Rust's `flush`, when the messages have to
//! be sent. A node in Python would take the interpreter lock in `compute` and call an object with the tensors and the stream of
//! its ports. It would need only parts that the ports have already: the two operators, the conversion of `message.rs`, and the
//! streams of the context.

mod class;
mod export;
mod input;
mod message;
mod operators;
mod output;
mod port;
mod queue;
mod report;
mod run;
mod running;

pub use class::{Graph, Maker};
pub use input::Input;
pub use message::{Adopting, InputMessage, OutputMessage};
pub use operators::{FlushToPython, FromPython, InputPort, OutputPort, ToPython};
pub use output::{Message, Output};
pub use port::Ended;
pub use report::Report;
pub(crate) use run::stop_all_blocking;
pub use running::Running;
