//! Prints a program of threads as code.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::plan::{
    Action, DownloadUse, On, Owner, PARTS, Place, Round, SLOTS, Step, THREADS, Threads,
};

/// Returns the body of `fn threads(platform: &Platform) -> Result<()>`.
pub(crate) fn print(plan: &Threads) -> String {
    let mut out = String::new();
    let to = &mut out;
    line(to, 1, "let pool = &platform.stream_pool(\"STREAMS\", &CudaStreamPool::new())?;");
    line(to, 1, "let board = &Board::default();");
    for stream in 0..plan.streams {
        line(to, 1, &format!("let mut s{stream} = pool.allocate(\"s{stream}\")?;"));
    }
    line(to, 1, "let first = pool.allocate(\"first\")?;");
    for (buffer, len) in plan.lens.iter().enumerate() {
        let tag = buffer + 1;
        line(to, 1, &format!("let mut b{buffer} = new(platform, &first, {len}, {tag}, false)?;"));
    }
    for thread in 0..THREADS {
        line(to, 1, &format!("let mut own{thread} = Own::default();"));
    }
    for (number, round) in plan.rounds.iter().enumerate() {
        for buffer in &round.renewed {
            let (len, tag) = (plan.lens[*buffer], 1000 * (number + 1) + buffer);
            line(to, 1, &format!("b{buffer} = new(platform, &first, {len}, {tag}, false)?;"));
        }
        print_round(to, plan, round, number);
    }
    for buffer in 0..plan.lens.len() {
        line(to, 1, &format!("download_blocking(&first, &b{buffer})?;"));
    }
    for thread in 0..THREADS {
        line(to, 1, &format!("own{thread}.pending.iter().try_for_each(Pending::wait)?;"));
    }
    line(to, 1, "Ok(())");
    out
}

fn line(to: &mut String, depth: usize, text: &str) {
    let _infallible = writeln!(to, "{}{text}", "    ".repeat(depth));
}

fn print_round(to: &mut String, plan: &Threads, round: &Round, number: usize) {
    if round.threads.iter().all(Vec::is_empty) {
        return;
    }
    line(to, 1, "{");
    for (buffer, split) in round.splits.iter().enumerate() {
        let [first, middle, last] = split.cuts;
        let last = last - middle;
        line(to, 2, &format!("let (mut left, mut right) = split(&mut b{buffer}, {middle})?;"));
        let name = |part| format!("b{buffer}_{part}");
        let (a, b, c, d) = (name(0), name(1), name(2), name(3));
        line(to, 2, &format!("let (mut {a}, mut {b}) = split(&mut left, {first})?;"));
        line(to, 2, &format!("let (mut {c}, mut {d}) = split(&mut right, {last})?;"));
    }
    let threads = round.threads.len();
    line(to, 2, "scope(|scope| -> Result<()> {");
    for (thread, steps) in round.threads.iter().enumerate() {
        let own = (0..plan.streams).filter(|stream| (stream + number) % threads == thread);
        let own: Vec<_> = own.collect();
        line(to, 3, &format!("let thread{thread} = scope.spawn({{"));
        for stream in &own {
            line(to, 4, &format!("let s{stream} = &mut s{stream};"));
        }
        line(to, 4, &format!("let own = &mut own{thread};"));
        for (buffer, part) in used(steps, round, thread) {
            let borrow = match round.splits[buffer].owners[part] {
                Owner::All => "&",
                Owner::Thread(_) => "&mut ",
            };
            line(to, 4, &format!("let b{buffer}_{part} = {borrow}b{buffer}_{part};"));
        }
        line(to, 4, "move || -> Result<()> {");
        line(to, 5, "let default = platform.default_stream(device(0))?;");
        for step in steps.iter().filter(|step| step.act.is_legal(round, thread)) {
            line(to, 5, &print_step(step, &own));
        }
        line(to, 5, "Ok(())");
        line(to, 4, "}");
        line(to, 3, "});");
    }
    for thread in 0..threads {
        line(to, 3, &format!("thread{thread}.join().expect(\"it does not panic\")?;"));
    }
    line(to, 3, "Ok(())");
    line(to, 2, "})?;");
    line(to, 1, "}");
}

/// Returns the parts of the buffers that a thread uses in a round.
fn used(steps: &[Step], round: &Round, thread: usize) -> BTreeSet<(usize, usize)> {
    let legal = steps.iter().filter(|step| step.act.is_legal(round, thread));
    let places = legal.flat_map(|step| {
        let (writes, reads) = step.act.places();
        [writes, reads].concat()
    });
    places
        .filter_map(|place| match place {
            Place::Part(buffer, part) => Some((buffer, part % PARTS)),
            Place::Slot(_) => None,
        })
        .collect()
}

fn print_step(step: &Step, own: &[usize]) -> String {
    let s = match step.on {
        On::Own(index) if !own.is_empty() => format!("s{}", own[index % own.len()]),
        On::Fresh => "&pool.allocate(\"fresh\")?".to_owned(),
        _ => "&default".to_owned(),
    };
    let Step { tag, slow, .. } = step;
    let (writes, reads) = step.act.places();
    // The printed code holds a slot's buffer in a variable during the call.
    let (mut names, mut slots) = (Vec::new(), Vec::new());
    for (at, is_write) in
        writes.iter().map(|at| (at, true)).chain(reads.iter().map(|at| (at, false)))
    {
        let borrow = if is_write { "&mut " } else { "&" };
        names.push(match *at {
            Place::Part(buffer, part) => format!("{borrow}*b{buffer}_{part}"),
            Place::Slot(slot) => {
                let slot = format!("slot{}", slot % SLOTS);
                if !slots.contains(&(slot.clone(), borrow)) {
                    slots.push((slot.clone(), borrow));
                }
                format!("{borrow}*{slot}")
            }
        });
    }
    let [a, b, c] = [0, 1, 2].map(|nth| names.get(nth).cloned().unwrap_or_default());
    let call = match step.act {
        Action::Make(_) => format!("make({s}, {a}, {tag}, {slow})?;"),
        Action::Map(..) => format!("map({s}, {a}, {b}, {tag}, {slow})?;"),
        Action::Join(..) => format!("join({s}, {a}, ({b}, {c}), {tag}, {slow})?;"),
        Action::Change(..) => format!("change({s}, {a}, {b}, {tag}, {slow})?;"),
        Action::Both(..) => format!("both({s}, {a}, {b}, {tag}, {slow})?;"),
        Action::Copy(..) => format!("copy({s}, {a}, {b})?;"),
        Action::Fill(_) => format!("fill({s}, {a}, {tag})?;"),
        Action::Upload(_) => format!("upload(platform, {s}, {a}, {tag})?;"),
        Action::UploadBlocking(_) => format!("upload_blocking({s}, {a}, {tag})?;"),
        Action::DownloadBlocking(_) => format!("download_blocking({s}, {a})?;"),
        Action::Download(_, DownloadUse::Awaited) => {
            format!("download(platform, {s}, {a})?.wait()?;")
        }
        Action::Download(_, DownloadUse::Kept) => {
            format!("own.pending.push_back(download(platform, {s}, {a})?);")
        }
        Action::Download(_, DownloadUse::Dropped) => {
            format!("drop(download(platform, {s}, {a})?);")
        }
        Action::Look => "own.pending.iter().try_for_each(Pending::look)?;".to_owned(),
        Action::Await => "own.pending.front().map_or(Ok(()), Pending::wait)?;".to_owned(),
        Action::Forget => "drop(own.pending.pop_front());".to_owned(),
        Action::Record => format!("board.record({s})?;"),
        Action::Wait(ago) => format!("board.wait({s}, {ago})?;"),
        Action::IsComplete => format!("({s}).is_complete()?;"),
        Action::Synchronize => format!("({s}).synchronize_blocking()?;"),
        Action::New(slot, len) => {
            format!(
                "own.slot{slot} = None; own.slot{slot} = Some(new(platform, {s}, {len}, {tag}, {slow})?);"
            )
        }
        Action::Free(slot) => format!("own.slot{slot} = None;"),
        Action::Lend(slot) => format!(
            "own.slot{slot} = own.slot{slot}.take().map(|it| lend(platform, {s}, it)).transpose()?;"
        ),
        Action::Adopt(slot, len) => {
            format!("own.slot{slot} = None; own.slot{slot} = Some(adopt(platform, {s}, {len})?);")
        }
        Action::Hand(slot) => format!("board.hand(own.slot{slot}.take());"),
        Action::Take(slot) => format!("own.slot{slot} = board.take().or(own.slot{slot}.take());"),
    };
    if slots.is_empty() {
        return call;
    }
    let names: Vec<_> = slots.iter().map(|(slot, _)| format!("Some({slot})")).collect();
    let values: Vec<_> = slots.iter().map(|(slot, borrow)| format!("{borrow}own.{slot}")).collect();
    // Pending downloads are in another field than the slots, so that borrowed slots do not block them.
    format!("if let ({},) = ({},) {{ {call} }}", names.join(", "), values.join(", "))
}
