//! Random programs of one or two threads, with kernels whose bodies misbehave. The data must be that of
//! sequential execution.

use streamflow::prelude::*;
use streamflow::stream::StreamPool;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Search, check};

use super::deeds::{self, DEEDS, misbehave, misbehave_again};

const LEN: usize = 16;

/// Runs the part of one thread. Keeps each tensor together with the value that it must have.
fn part(platform: &Platform, pool: &StreamPool, draw: &mut Random, number: u32) -> Result<bool> {
    let streams = (0..3).map(|_| pool.allocate("any")).collect::<Result<Vec<_>, Error>>()?;
    let mut live: Vec<(Tensor<u32>, u32)> = Vec::new();
    let holds = |stream: &CudaStream, (data, value): &(Tensor<u32>, u32)| -> Result<bool> {
        Ok(stream.download_blocking(data)? == [*value; LEN])
    };
    for _ in 0..40 {
        let stream = &streams[draw.below(streams.len())];
        let deed = draw.below(DEEDS as usize + 2) as u32;
        match draw.below(7) {
            0 | 1 => {
                let mut data = platform.tensor([LEN], stream)?;
                let value = draw.below(1 << 20) as u32;
                stream.launch::<misbehave>(LEN, (&mut data, deed, number, value))?;
                live.push((data, value));
            }
            2 | 3 if !live.is_empty() => {
                let from = draw.below(live.len());
                let mut data = platform.tensor([LEN], stream)?;
                let (source, value) = &live[from];
                stream.launch::<misbehave_again>(LEN, (&mut data, source, deed, number))?;
                let value = value.wrapping_add(1);
                live.push((data, value));
            }
            4 if !live.is_empty() => {
                let (data, _) = live.swap_remove(draw.below(live.len()));
                let download = stream.download(&data)?;
                match draw.below(5) {
                    0 => deeds::leave(data),
                    1 => deeds::leave((download, data)),
                    2 => deeds::leave((Shared::new(data), platform.pinned::<u32>(device(0), 8)?)),
                    // A pool makes a stream under its lock, and a body that drops this stream takes the same lock.
                    3 => deeds::leave((data, pool.allocate("left")?)),
                    _ => drop((data, download)),
                }
            }
            5 if !live.is_empty() => {
                if !holds(stream, &live[draw.below(live.len())])? {
                    return Ok(false);
                }
            }
            _ => {
                let _complete = stream.is_complete()?;
            }
        }
    }
    for kept in &live {
        if !holds(&streams[0], kept)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn program(seed: u64) -> Result<bool> {
    let mut draw = Random::new(seed);
    let platform = Platform::host().seed(seed).race_check(seed.is_multiple_of(3)).build()?;
    let pool = platform.stream_pool("RANDOM", &CudaStreamPool::new())?;
    let number = u32::MAX - (seed % 1024) as u32;
    deeds::may_call(number, &platform);
    let mut other = Random::new(draw.bits());
    let done = std::thread::scope(|scope| -> Result<bool> {
        let beside = (seed % 2 == 1).then(|| {
            let (platform, pool, other) = (&platform, &pool, &mut other);
            scope.spawn(move || part(platform, pool, other, number))
        });
        let mine = part(&platform, &pool, &mut draw, number)?;
        let beside = beside.map(|it| it.join().map_err(|_| Failure::msg("a thread panicked")));
        Ok(mine && beside.transpose()?.transpose()?.unwrap_or(true))
    });
    let answers = deeds::may_call_no_more(number);
    deeds::clear();
    let refused = |it: &String| it.contains("from inside of kernel `misbehave");
    let races = platform.take_races();
    if !races.is_empty() {
        return Err(Failure::msg(races));
    }
    Ok(done? && answers.iter().all(refused))
}

pub(crate) fn programs() -> Result<(), Failed> {
    let mut programs = 0;
    for seed in Search::from_env("STREAMFLOW_BODIES", 1000)?.seeds() {
        let is_right =
            program(seed).map_err(|error| Failed::msg(format!("program {seed}: {error}")))?;
        check(is_right, || format!("program {seed} has wrong data"))?;
        programs += 1;
    }
    println!("{programs} programs of bodies that misbehave");
    Ok(())
}
