/// An edit of the library's code that a model must find.
struct Mutant {
    name: &'static str,
    /// The invariant that it breaks.
    #[allow(dead_code, reason = "for readers; the README's table has the same numbers")]
    invariant: &'static str,
    /// Relative to `streamflow/src`.
    file: &'static str,
    /// Each text is in the file exactly once.
    edits: &'static [(&'static str, &'static str)],
    /// The model that finds it, and what that reports.
    model: &'static str,
    expected: &'static str,
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "number_after_the_record",
        invariant: "order 2",
        file: "stream/records.rs",
        edits: &[
            (
                "let number = self.begin();\n        crate",
                "let number = self.recorded() + 1;\n        crate",
            ),
            ("        ring.set(record);\n", "        self.begin();\n        ring.set(record);\n"),
        ],
        model: "stream::models::work_during_a_record",
        expected: "a record counts for work",
    },
    Mutant {
        name: "covered_after_the_record",
        invariant: "order 3",
        file: "stream/records.rs",
        edits: &[(
            "    let covered = seen.snapshot();\n    call()?;\n",
            "    call()?;\n    let covered = seen.snapshot();\n",
        )],
        model: "stream::models::a_wait_during_a_record",
        expected: "a record counts for a wait",
    },
    Mutant {
        name: "clock_before_the_wait",
        invariant: "order 4",
        file: "stream/ordered.rs",
        edits: &[
            ("        call()?;\n", ""),
            ("record.number);\n        Ok(())\n", "record.number);\n        call()\n"),
        ],
        model: "stream::models::a_use_while_another_thread_waits",
        expected: "a wait is skipped too early",
    },
    Mutant {
        name: "clock_of_a_refused_wait",
        invariant: "order 4",
        file: "stream/ordered.rs",
        edits: &[("        call()?;\n", "        let _ = call();\n")],
        model: "stream::models::a_wait_that_is_refused",
        expected: "a wait is skipped too early",
    },
    Mutant {
        name: "entry_of_another_stream",
        invariant: "order 5",
        file: "stream/clock.rs",
        edits: &[("if entry.stream() == stream { entry.record() } else { 0 }", "entry.record()")],
        model: "stream::models::waits_that_share_an_entry",
        expected: "a wait is skipped too early",
    },
    Mutant {
        name: "point_before_forgetting",
        invariant: "order 6, memory 3",
        file: "memory/claims.rs",
        edits: &[
            (
                "                reads.forget(",
                "                let point = stream.open_point();\n                reads.forget(",
            ),
            ("writes.replace(stream.open_point());", "writes.replace(point);"),
        ],
        model: "memory::models::a_stream_that_comes_after_a_use_too_late",
        expected: "an access does not come after",
    },
    Mutant {
        name: "refused_record_in_its_slot",
        invariant: "order 7",
        file: "stream/records.rs",
        edits: &[(
            "        let record = make(number",
            "        ring.set(Record { number, covered: seen.snapshot() });\n        let record = make(number",
        )],
        model: "stream::models::a_record_that_is_refused",
        expected: "a record counts for work",
    },
    Mutant {
        name: "complete_up_to_the_latest",
        invariant: "order 8",
        file: "stream/ordered.rs",
        edits: &[("own.set_complete(record.number)", "own.set_complete(own.recorded())")],
        model: "stream::models::a_query_while_the_ring_turns",
        expected: "counts as complete",
    },
    Mutant {
        name: "record_of_a_detached_stream",
        invariant: "order 9",
        file: "stream/records.rs",
        edits: &[(
            "if self.is_detached() {\n            // Nothing",
            "if false {\n            // Nothing",
        )],
        model: "stream::models::a_record_of_a_stream_that_is_detached",
        expected: "a destroyed stream is recorded",
    },
    Mutant {
        name: "detached_outside_the_lock",
        invariant: "order 9",
        file: "stream/records.rs",
        edits: &[
            (
                "let last = self.record_locked(&mut ring, seen, call)?;\n",
                "let last = self.record_locked(&mut ring, seen, call)?;\n        drop(ring);\n",
            ),
            ("        let _ring = self.lock();\n        if !is_covered", "        if !is_covered"),
        ],
        model: "stream::models::a_record_of_a_stream_that_is_detached",
        expected: "a destroyed stream is recorded",
    },
    Mutant {
        name: "one_use_for_all_streams",
        invariant: "memory 2",
        file: "memory/points.rs",
        edits: &[(
            "if latest.point.stream() != point.stream() =>",
            "if latest.point.stream() == u32::MAX =>",
        )],
        model: "memory::models::two_reads_and_a_write",
        expected: "an access does not come after",
    },
    Mutant {
        name: "every_write_is_forgotten",
        invariant: "memory 3",
        file: "memory/claims.rs",
        edits: &[("writes.forget(stream.id(), |write| stream.implies(write));", "writes.clear();")],
        model: "memory::models::two_writes_of_parts_and_a_read",
        expected: "an access does not come after",
    },
    Mutant {
        name: "no_mark_at_a_use",
        invariant: "memory 4",
        file: "memory/claims.rs",
        edits: &[("self.uses.lock().mark(&missing, stream.id());", "")],
        model: "memory::models::a_write_after_many_reads",
        expected: "exceeded maximum number of branches",
    },
    Mutant {
        name: "read_that_is_not_packed",
        invariant: "memory 5",
        file: "memory/claims.rs",
        edits: &[("set(writes.only(), !reads.is_empty())", "set(writes.only(), false)")],
        model: "memory::models::two_reads_and_a_write",
        expected: "an access does not come after",
    },
    Mutant {
        name: "packed_write_of_any_record",
        invariant: "memory 5",
        file: "memory/last_write.rs",
        edits: &[(
            "word == Word::write(point)",
            "word.0 >> Word::STREAM_AT == Word::write(point).0 >> Word::STREAM_AT",
        )],
        model: "memory::models::two_writes_of_parts_and_a_read",
        expected: "an access does not come after",
    },
    Mutant {
        name: "uses_that_are_not_recorded",
        invariant: "memory 6",
        file: "stream/records.rs",
        edits: &[("        if !self.is_open() {", "        if self.is_open() {")],
        model: "memory::models::a_block_with_a_new_owner",
        expected: "waits for later work",
    },
    Mutant {
        name: "reads_that_an_owner_ignores",
        invariant: "memory 7",
        file: "memory/claims.rs",
        edits: &[("        self.reads.try_for_each(&mut visit)?;\n", "")],
        model: "memory::models::a_block_with_a_new_owner",
        expected: "a new owner does not come after",
    },
    Mutant {
        name: "lock_during_a_wait",
        invariant: "memory 13",
        file: "memory/claims.rs",
        edits: &[(
            "            missing.iter().try_for_each(",
            "            let _held = self.uses.lock();\n            missing.iter().try_for_each(",
        )],
        model: "memory::models::two_writes_of_parts_and_a_read",
        expected: "a lock of memory is held",
    },
    Mutant {
        name: "lines_published_relaxed",
        invariant: "race 5",
        file: "driver/race/journal.rs",
        edits: &[(
            "store(from + lines, Ordering::Release)",
            "store(from + lines, Ordering::Relaxed)",
        )],
        model: "driver::race::models::lines_of_one_call_are_read_together",
        expected: "is read in part",
    },
    Mutant {
        name: "lines_read_relaxed",
        invariant: "race 5",
        file: "driver/race/journal.rs",
        edits: &[("load(Ordering::Acquire)", "load(Ordering::Relaxed)")],
        model: "driver::race::models::lines_of_one_call_are_read_together",
        expected: "is read in part",
    },
    Mutant {
        name: "lines_published_too_early",
        invariant: "race 5",
        file: "driver/race/journal.rs",
        edits: &[
            ("        write(free);\n", ""),
            (
                "        self.published.store(from + lines, Ordering::Release);\n",
                "        self.published.store(from + lines, Ordering::Release);\n        if let Some(free) = self.lines.get(from..from + lines) {\n            write(free);\n        }\n",
            ),
        ],
        model: "driver::race::models::lines_are_read_once_and_in_order",
        expected: "lines are lost",
    },
    Mutant {
        name: "raise_that_wakes_nobody",
        invariant: "signal 1",
        file: "driver/signal.rs",
        edits: &[("        self.changed.notify_all();\n", "")],
        model: "driver::models::a_raise_ends_a_sleep",
        expected: "deadlock",
    },
    Mutant {
        name: "raise_before_its_count",
        invariant: "signal 1",
        file: "driver/signal.rs",
        edits: &[(
            "        *self.lock() += 1;\n        self.changed.notify_all();\n",
            "        self.changed.notify_all();\n        *self.lock() += 1;\n",
        )],
        model: "driver::models::a_raise_ends_a_sleep",
        expected: "deadlock",
    },
    Mutant {
        name: "sleep_without_a_look",
        invariant: "signal 2",
        file: "driver/signal.rs",
        edits: &[(
            "let unchanged = |raised: &mut u64| *raised == seen;",
            "let mut begins = true;\n        let unchanged = |raised: &mut u64| std::mem::take(&mut begins) || *raised == seen;",
        )],
        model: "driver::models::a_raise_ends_a_sleep",
        expected: "deadlock",
    },
    Mutant {
        name: "one_listener_is_none",
        invariant: "signal 3",
        file: "driver/listeners.rs",
        edits: &[(
            "self.waiting.load(Ordering::Relaxed) > 0",
            "self.waiting.load(Ordering::Relaxed) > 1",
        )],
        model: "driver::models::a_change_wakes_a_thread_that_waits",
        expected: "deadlock",
    },
];
