//! Runs a program of threads, and compares its data.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use streamflow::prelude::*;
use streamflow::stream::StreamPool;

use super::plan::{Action, DownloadUse, On, Owner, PARTS, Place, Round, SLOTS, Step, Threads};
use crate::programs::count;
use crate::programs::pieces::{self, Board, Owned, Part, Pending, Reads, Writes};
use streamflow::testing::scope;

/// The state of a thread over all rounds.
#[derive(Default)]
pub(crate) struct Own {
    slots: [Option<Owned>; SLOTS],
    pending: VecDeque<Pending>,
}

impl Own {
    /// Waits for all pending downloads of the thread.
    pub(crate) fn finish(self) -> Result<()> {
        self.pending.iter().try_for_each(Pending::wait)
    }
}

/// The values that all threads share.
#[derive(Clone, Copy)]
struct World<'a> {
    platform: &'a Platform,
    pool: &'a StreamPool,
    board: &'a Board,
    /// Whether ordinary threads begin each round at the same moment, which makes short rounds overlap.
    together: bool,
}

/// Runs a plan and compares all of its downloads. With `together` the threads of a round begin at the same time,
/// which threads that take turns can't do.
pub(crate) fn run(plan: &Threads, platform: &Platform, together: bool) -> Result<()> {
    let pool = platform.stream_pool("STREAMS", &CudaStreamPool::new())?;
    let board = Board::default();
    let world = World { platform, pool: &pool, board: &board, together };
    let streams = (0..plan.streams).map(|_| pool.allocate("own"));
    let mut streams = streams.collect::<Result<Vec<_>, Error>>()?;
    let first = pool.allocate("first")?;
    let made =
        (1..).zip(&plan.lens).map(|(tag, len)| pieces::new(platform, &first, *len, tag, false));
    let mut buffers = made.collect::<Result<Vec<_>>>()?;
    let mut owns: Vec<Own> = (0..super::plan::THREADS).map(|_| Own::default()).collect();
    for (number, round) in plan.rounds.iter().enumerate() {
        for buffer in &round.renewed {
            let (len, tag) = (plan.lens[*buffer], (1000 * (number + 1) + buffer) as u32);
            buffers[*buffer] = pieces::new(platform, &first, len, tag, false)?;
        }
        run_round(round, number, &mut streams, &mut buffers, &mut owns, world)?;
    }
    for buffer in &buffers {
        pieces::download_blocking(&first, buffer)?;
    }
    owns.into_iter().try_for_each(Own::finish)
}

/// Runs one round.
fn run_round(
    round: &Round,
    number: usize,
    streams: &mut [CudaStream],
    buffers: &mut [Owned],
    owns: &mut [Own],
    world: World<'_>,
) -> Result<()> {
    let halves = buffers.iter_mut().zip(&round.splits);
    let mut halves = halves
        .map(|(buffer, split)| pieces::split(buffer, split.cuts[1]))
        .collect::<Result<Vec<_>>>()?;
    let threads = round.threads.len();
    let mut mine: Vec<Vec<Option<Part<'_>>>> =
        (0..threads).map(|_| (0..PARTS * round.splits.len()).map(|_| None).collect()).collect();
    let mut shared: Vec<Option<Part<'_>>> = (0..PARTS * round.splits.len()).map(|_| None).collect();
    for (buffer, ((left, right), split)) in halves.iter_mut().zip(&round.splits).enumerate() {
        let [first, middle, last] = split.cuts;
        let (a, b) = pieces::split(left, first)?;
        let (c, d) = pieces::split(right, last - middle)?;
        for (part, (it, owner)) in [a, b, c, d].into_iter().zip(split.owners).enumerate() {
            let at = PARTS * buffer + part;
            match owner {
                Owner::Thread(thread) if thread < threads => mine[thread][at] = Some(it),
                Owner::Thread(_) => {}
                Owner::All => shared[at] = Some(it),
            }
        }
    }
    let mut own_streams: Vec<Vec<&mut CudaStream>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, stream) in streams.iter_mut().enumerate() {
        own_streams[(index + number) % threads].push(stream);
    }
    let shared = &*shared;
    let sides = mine.into_iter().zip(own_streams).zip(owns).zip(&round.threads).enumerate();
    let sides = sides.map(|(thread, (((parts, streams), own), steps))| {
        let default = world.platform.default_stream(device(0));
        default.map(|default| Side {
            thread,
            round,
            parts,
            shared,
            streams,
            default,
            own,
            world,
            steps,
        })
    });
    let mut sides = sides.collect::<Result<Vec<_>, Error>>()?;
    if let [only] = &mut *sides {
        return only.run();
    }
    let missing = &AtomicUsize::new(if world.together { sides.len() } else { 0 });
    scope(|scope| {
        let spawned = sides.into_iter().map(|mut side| {
            scope.spawn(move || {
                if side.world.together {
                    missing.fetch_sub(1, Ordering::AcqRel);
                }
                while missing.load(Ordering::Acquire) > 0 {
                    std::thread::yield_now();
                }
                side.run()
            })
        });
        let running: Vec<_> = spawned.collect();
        running.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// One thread in one round.
struct Side<'a, 'p> {
    thread: usize,
    round: &'a Round,
    parts: Vec<Option<Part<'p>>>,
    shared: &'a [Option<Part<'p>>],
    streams: Vec<&'a mut CudaStream>,
    default: CudaStream,
    own: &'a mut Own,
    world: World<'a>,
    steps: &'a [Step],
}

/// Memory that a step has taken out of its place, and puts back afterwards.
enum Taken<'p> {
    Part(usize, Part<'p>),
    Slot(usize, Owned),
}

impl Taken<'_> {
    fn writes(&mut self) -> &mut dyn Writes {
        match self {
            Self::Part(_, part) => part,
            Self::Slot(_, owned) => owned,
        }
    }
}

impl<'p> Side<'_, 'p> {
    fn run(&mut self) -> Result<()> {
        self.steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        if !step.act.is_legal(self.round, self.thread) {
            return Ok(());
        }
        let (writes, reads) = step.act.places();
        let taken: Vec<_> = writes.iter().filter_map(|place| self.take(*place)).collect();
        let all = taken.len() == writes.len() && reads.iter().all(|at| self.read(*at).is_some());
        let mut taken = taken;
        count::called();
        let done = if all { self.act(step, &mut taken, &reads) } else { Ok(()) };
        for taken in taken {
            match taken {
                Taken::Part(at, part) => self.parts[at] = Some(part),
                Taken::Slot(at, owned) => self.own.slots[at] = Some(owned),
            }
        }
        done
    }

    fn take(&mut self, place: Place) -> Option<Taken<'p>> {
        match place {
            Place::Part(buffer, part) => {
                let at = PARTS * buffer + part;
                self.parts[at].take().map(|part| Taken::Part(at, part))
            }
            Place::Slot(at) => self.own.slots[at].take().map(|owned| Taken::Slot(at, owned)),
        }
    }

    fn read(&self, place: Place) -> Option<&dyn Reads> {
        match place {
            Place::Part(buffer, part) => {
                let at = PARTS * buffer + part;
                let it = self.parts[at].as_ref().or(self.shared[at].as_ref());
                it.map(|it| it as &dyn Reads)
            }
            Place::Slot(at) => self.own.slots[at].as_ref().map(|it| it as &dyn Reads),
        }
    }

    fn act(&mut self, step: &Step, taken: &mut [Taken<'p>], reads: &[Place]) -> Result<()> {
        let fresh = match step.on {
            On::Fresh => Some(self.world.pool.allocate("fresh")?),
            _ => None,
        };
        let World { platform, board, .. } = self.world;
        let (tag, slow) = (step.tag, step.slow);
        // These actions change the thread's state, and come first. The other actions only read it.
        match step.act {
            Action::New(slot, len) => {
                self.own.slots[slot] = None;
                let made = pieces::new(platform, self.stream(step.on, &fresh), len, tag, slow)?;
                self.own.slots[slot] = Some(made);
                return Ok(());
            }
            Action::Free(slot) => {
                self.own.slots[slot] = None;
                return Ok(());
            }
            Action::Lend(slot) => {
                if let Some(owned) = self.own.slots[slot].take() {
                    let back = pieces::lend(platform, self.stream(step.on, &fresh), owned)?;
                    self.own.slots[slot] = Some(back);
                }
                return Ok(());
            }
            Action::Adopt(slot, len) => {
                self.own.slots[slot] = None;
                let made = pieces::adopt(platform, self.stream(step.on, &fresh), len)?;
                self.own.slots[slot] = Some(made);
                return Ok(());
            }
            Action::Hand(slot) => {
                board.hand(self.own.slots[slot].take());
                return Ok(());
            }
            Action::Take(slot) => {
                if let Some(taken) = board.take() {
                    self.own.slots[slot] = Some(taken);
                }
                return Ok(());
            }
            Action::Forget => {
                self.own.pending.pop_front();
                return Ok(());
            }
            _ => {}
        }
        let s = self.stream(step.on, &fresh);
        let read: Vec<_> = reads.iter().filter_map(|place| self.read(*place)).collect();
        let kept = match (step.act, taken, &*read) {
            (Action::Make(_), [out], _) => pieces::make(s, out.writes(), tag, slow).map(|()| None),
            (Action::Map(..), [out], [a]) => {
                pieces::map(s, out.writes(), *a, tag, slow).map(|()| None)
            }
            (Action::Join(..), [out], [a, b]) => {
                pieces::join(s, out.writes(), (*a, *b), tag, slow).map(|()| None)
            }
            (Action::Change(..), [out], [a]) => {
                pieces::change(s, out.writes(), *a, tag, slow).map(|()| None)
            }
            (Action::Both(..), [a, b], _) => {
                pieces::both(s, a.writes(), b.writes(), tag, slow).map(|()| None)
            }
            (Action::Copy(..), [out], [a]) => pieces::copy(s, out.writes(), *a).map(|()| None),
            (Action::Fill(_), [out], _) => pieces::fill(s, out.writes(), tag).map(|()| None),
            (Action::Upload(_), [out], _) => {
                pieces::upload(platform, s, out.writes(), tag).map(|()| None)
            }
            (Action::UploadBlocking(_), [out], _) => {
                pieces::upload_blocking(s, out.writes(), tag).map(|()| None)
            }
            (Action::DownloadBlocking(_), _, [a]) => {
                pieces::download_blocking(s, *a).map(|()| None)
            }
            (Action::Download(_, fate), _, [a]) => {
                let pending = pieces::download(platform, s, *a)?;
                match fate {
                    DownloadUse::Awaited => pending.wait().map(|()| None),
                    DownloadUse::Kept => Ok(Some(pending)),
                    DownloadUse::Dropped => Ok(None),
                }
            }
            (Action::Look, ..) => {
                self.own.pending.iter().try_for_each(Pending::look).map(|()| None)
            }
            (Action::Await, ..) => {
                self.own.pending.front().map_or(Ok(()), Pending::wait).map(|()| None)
            }
            (Action::Record, ..) => board.record(s).map(|()| None),
            (Action::Wait(ago), ..) => board.wait(s, ago).map(|()| None),
            (Action::IsComplete, ..) => Ok(s.is_complete().map(|_| None)?),
            (Action::Synchronize, ..) => Ok(s.synchronize_blocking().map(|()| None)?),
            _ => Ok(None),
        }?;
        self.own.pending.extend(kept);
        Ok(())
    }

    fn stream<'s>(&'s self, on: On, fresh: &'s Option<CudaStream>) -> &'s CudaStream {
        match (on, fresh) {
            (_, Some(fresh)) => fresh,
            (On::Own(index), _) if !self.streams.is_empty() => {
                self.streams[index % self.streams.len()]
            }
            _ => &self.default,
        }
    }
}
