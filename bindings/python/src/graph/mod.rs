//! Graphs as classes of Python: [`export!`](crate::export) makes one of a `graph!`.
//!
//! A graph runs on its own thread. The thread calls no code of Python and never takes the interpreter lock. Python's
//! side are ports. A port is a bounded queue (`queue.rs`) between an object of Python (`input.rs`, `output.rs`, and
//! their common part `port.rs`) and an operator of the graph (`operators.rs`). The operator's node has a condition that
//! the port wakes. `message.rs` has the messages that cross a port, `run.rs` the state that the objects of one run
//! share, `running.rs` and `report.rs` the run as Python sees it, `class.rs` the base class of all graphs, and
//! `export.rs` the macro.
//!
//! # Order
//! A pushed array becomes a tensor of the port's stream. The producer makes this stream wait for its work, and the
//! operator's stream comes after the port's. A taken message carries the point at which it is ready, and the port's
//! stream waits for it.
//!
//! # Operators in Python
//! There are no nodes written in Python. The code of such an operator takes from one port and pushes to another. Code
//! that holds messages back needs [`FlushToPython`] at its input: as Rust's `flush`, it says when the messages have to
//! be sent. A node would take the interpreter lock in `compute` and call an object with its ports' tensors and stream,
//! and would need only the parts that these ports have: the two operators, the conversion of `message.rs`, and the
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
