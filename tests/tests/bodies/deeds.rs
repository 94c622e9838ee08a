//! Kernels whose Rust bodies do something that a body must not do, and then do their work.

use std::any::Any;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use streamflow::prelude::*;

/// The number of values of `deed`. With each of them, the kernel's data is right.
pub(crate) const DEEDS: u32 = 8;

/// The lock that a kernel's body takes.
static LOCKED: Mutex<u64> = Mutex::new(0);

/// The values that a kernel's body drops.
static DROPPED: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());

/// The platforms that a kernel's body calls, each with its number.
static CALLED: Mutex<Vec<(u32, Platform)>> = Mutex::new(Vec::new());

/// The results of the calls that bodies have made, each with the number of its platform.
static ANSWERS: Mutex<Vec<(u32, String)>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets each element of `out` to `value`, after a forbidden deed.
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
pub(crate) fn misbehave(out: &mut [u32], deed: u32, platform: u32, value: u32) {
    out.fill(!value);
    misbehaves(deed, platform);
    out.fill(value);
}

/// Sets `out` to `from + 1`, after a forbidden deed.
#[kernel(
    unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = from[i] + 1;",
    requires(from.len() == out.len())
)]
pub(crate) fn misbehave_again(out: &mut [u32], from: &[u32], deed: u32, platform: u32) {
    out.fill(7);
    misbehaves(deed, platform);
    out.iter_mut().zip(from).for_each(|(out, from)| *out = from.wrapping_add(1));
}

fn misbehaves(deed: u32, platform: u32) {
    match deed {
        0 => {}
        1 => {
            let mut out = std::io::stdout().lock();
            let _closed = out.write_all(b"").and_then(|()| out.flush());
        }
        2 => *lock(&LOCKED) += 1,
        3 => drop((0..200_u64).map(|it| it.to_string()).collect::<Vec<_>>()),
        4 => {
            let dropped = std::mem::take(&mut *lock(&DROPPED));
            drop(dropped);
        }
        5 => call(platform),
        6 => {
            let counted = thread::spawn(|| *lock(&LOCKED) += 1);
            let _ended = counted.join();
        }
        _ => thread::sleep(Duration::from_micros(u64::from(deed) * 20)),
    }
}

/// Calls the platform with this number, which is executing the body, if `may_call` has registered it. Notes the
/// results.
fn call(number: u32) {
    let found = lock(&CALLED).iter().find(|(known, _)| *known == number).map(|it| it.1.clone());
    let Some(platform) = found else { return };
    let answers = || -> [String; 4] {
        let Ok(stream) = platform.default_stream(device(0)) else { return Default::default() };
        let text =
            |done: Result<(), Error>| done.err().map(|it| it.to_string()).unwrap_or_default();
        [
            text(platform.tensor::<u32>([8], &stream).map(drop)),
            text(stream.record().map(drop)),
            text(stream.synchronize_blocking()),
            text(stream.is_complete().map(drop)),
        ]
    };
    let answers = answers();
    lock(&ANSWERS).extend(answers.map(|answer| (number, answer)));
}

/// Lets bodies that are launched with this number call the platform.
pub(crate) fn may_call(number: u32, platform: &Platform) {
    lock(&CALLED).push((number, platform.clone()));
}

/// Stops bodies from calling the platform. Returns the results of their calls so far.
pub(crate) fn may_call_no_more(number: u32) -> Vec<String> {
    lock(&CALLED).retain(|(known, _)| *known != number);
    let of_platform = |(known, _): &mut (u32, String)| *known == number;
    lock(&ANSWERS).extract_if(.., of_platform).map(|(_, answer)| answer).collect()
}

/// Leaves a value that the next body with deed 4 will drop.
pub(crate) fn leave(what: impl Any + Send) {
    lock(&DROPPED).push(Box::new(what));
}

/// Drops the values that no body has dropped.
pub(crate) fn clear() {
    let left = std::mem::take(&mut *lock(&DROPPED));
    drop(left);
}
