//! The watcher: it reports bodies that don't end. Such a body may wait for a lock that the thread which executes it holds,
//! or for a thread that waits for the device. A GPU has no such locks, so a program's author may not expect this.
//!
//! Each thread that executes bodies has a stack of them in one list of the process. A watcher thread checks the list once a
//! second while bodies run, and sleeps while none runs. So a body costs an uncontended lock, and allocates nothing.

use std::cell::RefCell;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::driver::asker::Asker;

/// The time for which a body has run when it is reported.
pub(super) const TOLD_AFTER: Duration = Duration::from_secs(5);

/// The interval between two checks of the list while bodies run.
const EACH: Duration = Duration::from_secs(1);

thread_local! {
    static BODIES: RefCell<Option<Arc<BodyStack>>> = const { RefCell::new(None) };
}

/// The bodies that one thread is executing. The innermost one is the last.
#[derive(Debug, Default)]
struct BodyStack(Mutex<Vec<Running>>);

#[derive(Debug)]
struct Running {
    name: Arc<str>,
    call: &'static str,
    node: Asker,
    /// The moment at which the watcher first saw the body; `None` before.
    seen: Option<Instant>,
    is_told: bool,
}

/// The list that the watcher checks, and whether the watcher's thread was started.
#[derive(Debug, Default)]
struct Watched {
    places: Vec<Weak<BodyStack>>,
    has_thread: bool,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched { places: Vec::new(), has_thread: false });
static WAKE: Condvar = Condvar::new();
/// Whether the watcher's thread sleeps until a body begins.
static IS_IDLE: AtomicBool = AtomicBool::new(true);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that the calling thread is executing a body, until the returned guard is dropped.
pub(super) fn begin(name: &Arc<str>, call: &'static str, node: Asker) -> Begun {
    let running = Running { name: name.clone(), call, node, seen: None, is_told: false };
    let noted = BODIES.try_with(|place| {
        let mut place = place.borrow_mut();
        let place = place.get_or_insert_with(new_place);
        lock(&place.0).push(running);
    });
    if IS_IDLE.load(Ordering::Relaxed) {
        wake();
    }
    // At the end of a thread, its `BODIES` may be dropped already. The body then runs without being noted.
    Begun(noted.is_ok(), PhantomData)
}

/// The guard that [`begin`] returns; whether the body is in `BODIES`. The pointer type makes the guard `!Send`.
pub(super) struct Begun(bool, PhantomData<*const ()>);

impl Drop for Begun {
    fn drop(&mut self) {
        if self.0 {
            let ended = BODIES.try_with(|place| lock(&place.borrow().as_ref()?.0).pop());
            drop(ended);
        }
    }
}

fn new_place() -> Arc<BodyStack> {
    let place = Arc::<BodyStack>::default();
    let mut watched = lock(&WATCHED);
    watched.places.retain(|place| place.strong_count() > 0);
    watched.places.push(Arc::downgrade(&place));
    place
}

/// Wakes the watcher's thread, or starts it.
#[cold]
fn wake() {
    let mut watched = lock(&WATCHED);
    IS_IDLE.store(false, Ordering::Relaxed);
    if watched.has_thread {
        WAKE.notify_one();
        return;
    }
    let thread = thread::Builder::new().name("streamflow bodies".to_owned()).spawn(watch);
    // If the thread can't be started, bodies that don't end are not reported. The next body tries to start it again.
    watched.has_thread = thread.is_ok();
    IS_IDLE.store(thread.is_err(), Ordering::Relaxed);
}

fn watch() {
    let mut watched = lock(&WATCHED);
    let mut quiet = 0;
    loop {
        let mut told = Vec::new();
        let mut runs = false;
        // The thread sleeps for good only after three checks without a body, so a program that always executes bodies does
        // not wake the thread for each one. The flag is set before the third check: a body that begins after this thread has
        // checked the stack of its thread then sees the flag, and wakes this thread.
        let is_last_check = quiet >= 2;
        if is_last_check {
            IS_IDLE.store(true, Ordering::Relaxed);
        }
        for place in watched.places.iter().filter_map(Weak::upgrade) {
            for running in lock(&place.0).iter_mut() {
                runs = true;
                let seen = *running.seen.get_or_insert_with(Instant::now);
                if !running.is_told && seen.elapsed() >= TOLD_AFTER {
                    running.is_told = true;
                    told.push(running.text());
                }
            }
        }
        if !told.is_empty() {
            drop(watched);
            told.iter().for_each(|text| print(text));
            watched = lock(&WATCHED);
        }
        quiet = if runs { 0 } else { quiet + 1 };
        if is_last_check && runs {
            IS_IDLE.store(false, Ordering::Relaxed);
        } else if is_last_check {
            while IS_IDLE.load(Ordering::Relaxed) {
                watched = WAKE.wait(watched).unwrap_or_else(PoisonError::into_inner);
            }
            quiet = 0;
        }
        watched = WAKE.wait_timeout(watched, EACH).unwrap_or_else(PoisonError::into_inner).0;
    }
}

impl Running {
    fn text(&self) -> String {
        let Self { name, call, node, .. } = self;
        let asked = node.name().map_or_else(String::new, |node| format!(" of operator `{node}`"));
        format!(
            "streamflow: the body of `{name}`, queued by `{call}`{asked}, has not ended for {} s on the simulator: does it wait \
             for a lock that its caller holds across a call, or for a thread that waits for the device? Release the lock \
             before the call.\n",
            TOLD_AFTER.as_secs()
        )
    }
}

/// Writes to standard error without taking the standard library's lock: a thread that holds that lock may be what the body
/// waits for.
fn print(text: &str) {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        if let Ok(error) = std::io::stderr().as_fd().try_clone_to_owned() {
            let _closed = std::fs::File::from(error).write_all(text.as_bytes());
            return;
        }
    }
    let _closed = std::io::stderr().write_all(text.as_bytes());
}
