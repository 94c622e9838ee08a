//! Tests of execution in a chosen order: the options of each choice.

use std::sync::{Arc, Mutex};

use super::*;

/// A chooser that makes the choices of a list, and then always chooses 0. It stores the number of options of each choice.
#[derive(Debug, Clone, Default)]
struct Listed {
    choices: Vec<usize>,
    offered: Arc<Mutex<Vec<usize>>>,
}

impl Chooser for Listed {
    fn choose(&mut self, _: u64, options: usize) -> usize {
        let mut offered = self.offered.lock().unwrap();
        offered.push(options);
        self.choices.get(offered.len() - 1).copied().unwrap_or(0)
    }

    fn end(&mut self, _: u64) {}
}

/// Sets a buffer to 1 on one stream and to 2 on another stream, and waits for both streams. Returns the content of the
/// buffer, and the number of options of each choice.
fn two_writers(choices: &[usize]) -> (u32, Vec<usize>) {
    let chooser = Listed { choices: choices.to_vec(), ..Listed::default() };
    let driver = HostDriver::builder().build_chosen(Box::new(chooser.clone()));
    let (set, copy) = (load(&driver, "set", set), load(&driver, "copy", copy));
    let bench = Bench { driver, set, copy };
    let (a, b) = (bench.stream(), bench.stream());
    let data = bench.buffer(a);
    bench.wait(a);
    let before = chooser.offered.lock().unwrap().len();
    bench.set(a, data, 1);
    bench.set(b, data, 2);
    bench.wait(a);
    bench.wait(b);
    let offered = chooser.offered.lock().unwrap()[before..].to_vec();
    (bench.peek(data), offered)
}

#[test]
fn a_choice_is_between_streams_and_the_call() {
    // The first choices are for the allocation and the wait for it. Before each submission, the options are the queued
    // operations and the call itself. While a call blocks, the options are the queued operations only.
    assert_eq!(two_writers(&[]), (2, vec![1, 2, 1, 1]));
    assert_eq!(two_writers(&[0, 0, 0, 1, 0, 0]), (2, vec![1, 2, 2, 1]));
    assert_eq!(two_writers(&[0, 0, 0, 1, 1, 0]), (1, vec![1, 2, 2, 1]));
}
