//! Tests of the policies: they show missing dependencies, polling ends under each, and a seed repeats its order.

use super::*;

/// Queues two readers on two streams, and then a write on the first stream. The write waits for the second reader only if
/// `both`. Returns the values that the readers got.
fn two_readers(bench: &Bench, both: bool) -> [u32; 2] {
    let (home, left, right) = (bench.stream(), bench.stream(), bench.stream());
    let data = bench.buffer(home);
    let (a, b) = (bench.buffer(left), bench.buffer(right));
    bench.set(home, data, 1);
    bench.edge(home, left);
    bench.edge(home, right);
    bench.copy(left, a, data);
    bench.copy(right, b, data);
    bench.edge(left, home);
    if both {
        bench.edge(right, home);
    }
    bench.set(home, data, 2);
    bench.wait(home);
    [bench.download(left, a), bench.download(right, b)]
}

#[test]
fn a_complete_program_is_right_under_every_seed() {
    for seed in 0..400 {
        let bench = Bench::with(HostDriver::builder().seed(seed));
        assert_eq!(two_readers(&bench, true), [1, 1], "{seed}");
    }
}

#[test]
fn a_write_without_a_wait_for_one_of_two_readers_is_found() {
    let wrong = (0..100)
        .filter(|seed| {
            two_readers(&Bench::with(HostDriver::builder().seed(*seed)), false) != [1, 1]
        })
        .count();
    assert!(wrong >= 30, "{wrong} of 100 seeds");
    let of = |policy| {
        (0..100).filter(|seed| two_readers(&Bench::new(policy, *seed), false) != [1, 1]).count()
    };
    assert_eq!(of(Policy::Eager), 0);
    assert_eq!(of(Policy::Lazy), 100);
    let (slowest, random) = (of(Policy::SlowestLast), of(Policy::Random));
    assert!((15..=50).contains(&slowest), "one stream of four is the slowest: {slowest}");
    assert!((20..=90).contains(&random), "{random}");
}

#[test]
fn eager_executes_at_submission_and_lazy_only_what_is_needed() {
    let bench = Bench::new(Policy::Eager, 0);
    let data = bench.settled_buffer();
    bench.set(bench.stream(), data, 1);
    assert_eq!(bench.peek(data), 1);

    let bench = Bench::new(Policy::Lazy, 1);
    let (a, b) = (bench.settled_buffer(), bench.settled_buffer());
    let (first, second) = (bench.stream(), bench.stream());
    bench.set(first, a, 1);
    bench.set(second, b, 1);
    bench.wait(first);
    assert_eq!([bench.peek(a), bench.peek(b)], [1, poisoned(POISON_ALLOCATED)]);
}

#[test]
fn polling_ends_and_the_first_answer_is_not_yet() {
    for seed in 0..64 {
        for policy in [Policy::Lazy, Policy::SlowestLast, Policy::Random] {
            let bench = Bench::new(policy, seed);
            let (producer, stream) = (bench.stream(), bench.stream());
            let data = bench.settled_buffer();
            bench.set(producer, data, 1);
            bench.edge(producer, stream);
            let event = bench.event();
            unsafe { bench.driver.record_event(event, stream) }.unwrap();
            let polls = (0..10_000).find(|_| unsafe { bench.driver.query_event(event) }.unwrap());
            let polls = polls.unwrap_or_else(|| panic!("{policy:?} {seed} never ends"));
            if policy == Policy::Lazy {
                assert_eq!(polls, 4, "kernel, record, wait, record");
            }
            assert_eq!(bench.peek(data), 1);
            while !unsafe { bench.driver.query_stream(stream) }.unwrap() {}
        }
    }
}

#[test]
fn a_full_stream_blocks_instead_of_growing() {
    for policy in ALL {
        let bench = Bench::new(policy, 2);
        let stream = bench.stream();
        let data = bench.settled_buffer();
        for value in 0..5000 {
            bench.set(stream, data, value);
        }
        assert!(bench.peek(data) >= 5000 - 1 - 1024, "{policy:?}");
        assert!(bench.driver.lock().pending <= 1024);
        assert_eq!(bench.download(stream, data), 4999);
    }
}

fn log_of(seed: u64) -> Vec<String> {
    let bench = Bench::with(HostDriver::builder().seed(seed).trace(true));
    two_readers(&bench, true);
    bench.driver.log().iter().map(ToString::to_string).collect()
}

#[test]
fn one_seed_gives_one_log_and_others_give_others() {
    let logs: Vec<_> = (0..64).map(log_of).collect();
    for (seed, log) in logs.iter().enumerate() {
        assert_eq!(*log, log_of(seed as u64));
    }
    let random: Vec<_> = logs
        .iter()
        .enumerate()
        .filter(|(seed, _)| Policy::of_seed(*seed as u64) == Policy::Random)
        .map(|(_, log)| log)
        .collect();
    let distinct: std::collections::HashSet<_> = random.iter().collect();
    assert!(distinct.len() * 2 > random.len(), "{} of {}", distinct.len(), random.len());
    assert_ne!(logs[0], logs[1]);
    assert_eq!(
        logs[0][..9],
        [
            "stream 1: allocate 256",
            "stream 2: allocate 256",
            "stream 3: allocate 256",
            "stream 1: kernel set",
            "stream 1: record event 0 #1",
            "stream 2: wait event 0 #1",
            "stream 1: record event 1 #1",
            "stream 3: wait event 1 #1",
            "stream 2: kernel copy",
        ]
    );
}

#[test]
fn eight_seeds_cover_all_policies() {
    for start in [0, 5, 1 << 40] {
        for policy in ALL {
            assert!((start..start + 8).any(|seed| Policy::of_seed(seed) == policy));
        }
    }
    assert_eq!(HostDriver::builder().build().policy(), Policy::Eager);
}

/// Returns the log of the example in the folder's README, as text.
fn example(seed: u64, waits: bool) -> String {
    let bench = Bench::with(HostDriver::builder().seed(seed).trace(true));
    let (producer, reader) = (bench.stream(), bench.stream());
    let data = bench.buffer(producer);
    bench.wait(producer);
    bench.set(producer, data, 7);
    if waits {
        bench.edge(producer, reader);
    }
    let seen = bench.download(reader, data);
    bench.wait(producer);
    let log: String = bench.driver.log().iter().map(|entry| format!("    {entry}\n")).collect();
    let policy = format!("{:?}", bench.driver.policy()).to_lowercase();
    let title = if waits { ", with the wait" } else { "" };
    format!("seed {seed}, {policy}{title}\n{log}the download gets {seen:#x}\n")
}

#[test]
fn the_readme_has_the_logs_of_its_example() {
    for (seed, waits) in [(0, false), (1, false), (1, true)] {
        let text = example(seed, waits);
        assert!(include_str!("../README.md").contains(&text), "{text}");
    }
}
