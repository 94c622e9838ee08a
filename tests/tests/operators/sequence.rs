//! The sequence numbers of messages on all kinds of paths through a graph. Each message holds the sequence number
//! that it should have.

use streamflow::message::Metadata;
use streamflow::prelude::*;
use streamflow::time::Timestamp;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::stereo::Counter;
use streamflow_tests::tensors::{Tx, holds};
use streamflow_tests::{Failed, check, check_equal};

const TICKS: u64 = 6;

/// An operator that chooses the sequence number `100 * tick + first` and sends it. Data of a smaller `first` is
/// acquired earlier.
#[operator]
struct Numbered {
    #[output]
    number: u64,
    first: u64,
}

impl Compute for Numbered {
    fn compute(&mut self, io: NumberedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = 100 * cx.tick() + self.first;
        io.number.acquired(Timestamp(self.first)).sequence(number).emit(number)
    }
}

/// An operator that drops its first message, so that its path is one message ahead of the other paths.
#[operator]
struct Ahead {
    #[input]
    number: &u64,
    #[output]
    later: u64,
}

impl Compute for Ahead {
    fn compute(&mut self, io: AheadIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 0 {
            io.number.discard();
            return Ok(());
        }
        io.later.emit(*io.number.receive().into_data())
    }
}

/// An operator that sends the smaller of two numbers.
#[operator]
struct Join {
    #[input]
    later: &u64,
    #[input]
    number: &u64,
    #[output]
    smaller: u64,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, _: &ExecutionContext) -> Result<()> {
        let (later, number) = (io.later.receive().into_data(), io.number.receive().into_data());
        io.smaller.emit(*later.min(number))
    }
}

/// An operator that notes each number, and the sequence number of its message.
#[operator]
struct Log {
    #[input]
    number: &u64,
    seen: Seen<(u64, Option<u64>)>,
}

impl Compute for Log {
    fn compute(&mut self, io: LogIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.number.receive();
        let sequence = number.metadata().and_then(Metadata::sequence);
        push_seen(&self.seen, (*number.into_data(), sequence));
        Ok(())
    }
}

graph! {
    struct Diamond(seen: Seen<(u64, Option<u64>)>) {
        #[when(count(TICKS))] let source: Counter = Counter::new();
        let ahead: Ahead = Ahead::new();
        let join: Join = Join::new();
        let log: Log = Log::new(seen);
        source.number >> ahead.number;
        ahead.later >> join.later;
        // The edge drops messages, so that the last one, which is left over, is no stall. With workers, the source may
        // send all messages before the join runs.
        #[capacity(TICKS as usize)] #[policy(pop)]
        source.number >> join.number;
        join.smaller >> log.number;
    }
}

/// Checks a join that has the frames n and n + 1, and receives the later one first.
pub(crate) fn diamond(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Diamond::new(platform, seen.clone())?.run()?;
    check_equal(all(&seen), (0..TICKS - 1).map(|n| (n, Some(n))).collect())
}

/// An operator that sends what two [`Numbered`] would send. The message that was acquired earlier is sent only in
/// every other tick, and then first.
#[operator]
struct Two {
    #[output]
    earlier: u64,
    #[output]
    number: u64,
}

impl Compute for Two {
    fn compute(&mut self, io: TwoIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let [earlier, number] = [3, 7].map(|first| 100 * cx.tick() + first);
        if cx.tick().is_multiple_of(2) {
            io.earlier.acquired(Timestamp(3)).sequence(earlier).emit(earlier)?;
        }
        io.number.acquired(Timestamp(7)).sequence(number).emit(number)
    }
}

/// An operator that sends the number of the message that was acquired earliest: that of the optional input, if
/// there is one. It receives that message first, so the next one is sent only after room was made for the other
/// number.
#[operator]
struct Perhaps {
    #[input(optional)]
    earlier: &u64,
    #[input]
    number: &u64,
    #[output]
    earliest: u64,
}

impl Compute for Perhaps {
    fn compute(&mut self, io: PerhapsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let (earlier, number) = (io.earlier.receive(), io.number.receive());
        let number = number.into_data();
        io.earliest.emit(*earlier.into_data().unwrap_or(number))
    }
}

graph! {
    struct Optional(seen: Seen<(u64, Option<u64>)>) {
        #[when(count(TICKS))] let two: Two = Two::new();
        let perhaps: Perhaps = Perhaps::new();
        let log: Log = Log::new(seen);
        two.earlier >> perhaps.earlier;
        two.number >> perhaps.number;
        perhaps.earliest >> log.number;
    }
}

pub(crate) fn optional(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Optional::new(platform, seen.clone())?.run()?;
    let expected = |tick: u64| 100 * tick + if tick.is_multiple_of(2) { 3 } else { 7 };
    let expected = (0..TICKS).map(expected).map(|number| (number, Some(number)));
    check_equal(all(&seen), expected.collect())
}

/// An operator that sends the second of its numbers.
#[operator]
struct Second {
    #[input(many)]
    numbers: &u64,
    #[output]
    number: u64,
}

impl Compute for Second {
    fn compute(&mut self, io: SecondIo<'_>, _: &ExecutionContext) -> Result<()> {
        let second = io.numbers.receive().into_data().nth(1);
        io.number.emit(second.copied().unwrap_or_default())
    }
}

graph! {
    struct OfMany(seen: Seen<(u64, Option<u64>)>) {
        #[when(count(TICKS))] let a: Numbered = Numbered::new(8);
        #[when(count(TICKS))] let b: Numbered = Numbered::new(2);
        #[when(count(TICKS))] let c: Numbered = Numbered::new(5);
        let second: Second = Second::new();
        let log: Log = Log::new(seen);
        a.number >> second.numbers;
        b.number >> second.numbers;
        c.number >> second.numbers;
        second.number >> log.number;
    }
}

pub(crate) fn many(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    OfMany::new(platform, seen.clone())?.run()?;
    check_equal(all(&seen), (0..TICKS).map(|n| (100 * n + 2, Some(100 * n + 2))).collect())
}

/// An operator that notes whether each tensor is full of its sequence number, and when the tensor was acquired.
#[operator]
struct Full {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<(u64, Option<Timestamp>)>,
}

impl Compute for Full {
    fn compute(&mut self, io: FullIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let metadata = image.metadata().cloned().unwrap_or_default();
        let sequence = metadata.sequence().unwrap_or(u64::MAX);
        let (image, stream) = image.receive_cuda_stream(cx)?;
        if !holds(cx, image, &stream, sequence as f32)? {
            return Err(Failure::msg(format!("the data is not of frame {sequence}")));
        }
        push_seen(&self.seen, (sequence, metadata.acquired()));
        Ok(())
    }
}

/// What each of several nodes has noted.
type Ways = [Seen<(u64, Option<Timestamp>)>; 4];

graph! {
    struct Copies(seen: Ways) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[when(count(TICKS))] let source: Tx = Tx::new(0.0, true, 0);
        let one: Full = Full::new(seen[0].clone());
        let other: Full = Full::new(seen[1].clone());
        let copied: Full = Full::new(seen[2].clone());
        #[streams(FAR)] let transferred: Full = Full::new(seen[3].clone());
        source.image >> one.image;
        source.image >> other.image;
        #[copy] source.image >> copied.image;
        #[transfer] source.image >> transferred.image;
    }
}

pub(crate) fn copies(platform: &Platform) -> Result<(), Failed> {
    let seen = Ways::default();
    Copies::new(platform, seen.clone())?.run()?;
    let [first, others @ ..] = seen.map(|seen| all(&seen));
    let numbers: Vec<u64> = first.iter().map(|(sequence, _)| *sequence).collect();
    check_equal(numbers, (0..TICKS).collect())?;
    check(first.iter().all(|(_, acquired)| acquired.is_some()), || format!("{first:?}"))?;
    others.into_iter().try_for_each(|other| check_equal(other, first.clone()))
}

/// An operator that adds up numbers. It notes the sequence number of its state, and sends the number of this
/// tick.
#[operator]
struct Total {
    #[input]
    before: &u64,
    #[input]
    number: &u64,
    #[output]
    total: u64,
    #[output]
    number_again: u64,
    seen: Seen<(u64, Option<u64>)>,
}

impl Compute for Total {
    fn compute(&mut self, io: TotalIo<'_>, _: &ExecutionContext) -> Result<()> {
        let before = io.before.receive();
        let of_state = before.metadata().and_then(Metadata::sequence);
        let (before, number) = (*before.into_data(), *io.number.receive().into_data());
        push_seen(&self.seen, (before, of_state));
        io.total.emit(before + number)?;
        io.number_again.emit(number)
    }
}

/// An operator that ignores its number, and sends the number from its own feedback edge plus 1.
#[operator]
struct Rounds {
    #[input]
    number: &u64,
    #[input]
    before: &u64,
    #[output]
    next: u64,
}

impl Compute for Rounds {
    fn compute(&mut self, io: RoundsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        io.next.emit(io.before.receive().into_data() + 1)
    }
}

graph! {
    struct Feedback(state: Seen<(u64, Option<u64>)>, sums: Seen<(u64, Option<u64>)>, rounds: Seen<(u64, Option<u64>)>) {
        #[when(count(TICKS))] let source: Numbered = Numbered::new(0);
        let total: Total = Total::new(state);
        let round: Rounds = Rounds::new();
        let of_total: Log = Log::new(sums);
        let of_round: Log = Log::new(rounds);
        source.number >> total.number;
        source.number >> round.number;
        #[feedback(initial = 0)] total.total >> total.before;
        #[feedback(initial = u64::MAX - 99)] round.next >> round.before;
        total.number_again >> of_total.number;
        round.next >> of_round.number;
    }
}

/// Checks that a feedback message has the number of the tick that made it, and passes the number on to no other
/// message. A node that receives only feedback is a source.
pub(crate) fn feedback(platform: &Platform) -> Result<(), Failed> {
    let [state, sums, rounds] = [Seen::default(), Seen::default(), Seen::default()];
    Feedback::new(platform, state.clone(), sums.clone(), rounds.clone())?.run()?;
    let before = |tick: u64| (0..tick).map(|tick| 100 * tick).sum();
    let expected = (0..TICKS).map(|tick| (before(tick), tick.checked_sub(1).map(|n| 100 * n)));
    check_equal(all(&state), expected.collect())?;
    check_equal(all(&sums), (0..TICKS).map(|tick| (100 * tick, Some(100 * tick))).collect())?;
    let first = u64::MAX - 98;
    check_equal(all(&rounds), (0..TICKS).map(|tick| (first + tick, Some(tick))).collect())
}
