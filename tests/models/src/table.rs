//! Compares the table of models and mutants in the README with the numbered invariants and with `mutants.rs`.

include!("../mutants.rs");

const TABLE: &str = include_str!("../README.md");

/// Returns the groups of invariants: each group's name in the table, and how many invariants the group has.
fn invariants() -> Vec<(&'static str, usize)> {
    let stream = include_str!("../../../streamflow/src/stream/README.md");
    let memory = include_str!("../../../streamflow/src/memory/README.md");
    let race = include_str!("../../../crates/streamflow-driver/src/driver/race/README.md");
    let ring = include_str!("../../../streamflow/src/message/queue/ring.rs").replace("//! ", "");
    let workers = include_str!("../../../streamflow/src/schedule/event_based/core.rs");
    let workers = workers.replace("//! ", "");
    let handles = include_str!("../../../streamflow/src/operator/condition/handles/sharers.rs");
    let handles = handles.replace("//! ", "");
    vec![
        ("order", numbered(stream, "## The rules")),
        ("memory", numbered(memory, "## The invariants")),
        ("race", numbered(race, "## Invariants")),
        ("ring", numbered(&ring, "# Invariants")),
        ("workers", numbered(&workers, "# Invariants")),
        ("handle", numbered(&handles, "# Invariants")),
        ("lock", numbered(TABLE, "## The lock")),
        ("signal", numbered(TABLE, "## The signals")),
    ]
}

/// Counts the numbered lines under a heading, and checks that no number is left out.
fn numbered(text: &str, heading: &str) -> usize {
    let (_, part) = text.split_once(&format!("{heading}\n")).unwrap();
    let part = part.split("\n## ").next().unwrap();
    let numbers = part.lines().filter_map(|line| line.split_once(". ")?.0.parse::<usize>().ok());
    let numbers: Vec<_> = numbers.collect();
    assert!(numbers.iter().copied().eq(1..=numbers.len()), "{heading}: {numbers:?}");
    assert!(!numbers.is_empty(), "{heading} has no numbers");
    numbers.len()
}

/// Returns the table's rows for an invariant. Each row is a list of models and a list of mutants.
fn rows<'t>(table: &'t str, invariant: &str) -> Vec<(Vec<&'t str>, Vec<&'t str>)> {
    // The names in a cell are the texts between backticks.
    let names = |cell: &'t str| cell.split('`').skip(1).step_by(2).collect();
    let cells = |line: &'t str| Some(line.strip_prefix("| ")?.split(" | ").collect::<Vec<_>>());
    let rows = table.lines().filter_map(cells).filter(|cells| cells[0] == invariant);
    rows.map(|cells| (names(cells[1]), names(cells[2]))).collect()
}

/// Returns the mistakes in a table: an invariant without a row or without a mutant, or a mutant that names another
/// invariant than its row does.
fn problems(table: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut known = Vec::new();
    for (area, count) in invariants() {
        for number in 1..=count {
            let invariant = format!("{area} {number}");
            let own = |mutant: &&Mutant| mutant.invariant.split(", ").any(|it| it == invariant);
            let own: Vec<_> = MUTANTS.iter().filter(own).collect();
            let [(models, mutants)] = &*rows(table, &invariant) else {
                problems.push(format!("{invariant} must have one row"));
                continue;
            };
            if own.is_empty() {
                problems.push(format!("{invariant} has no mutant"));
            }
            for mutant in own {
                let model = mutant.model.rsplit("::").next().unwrap();
                if !mutants.contains(&mutant.name) || !models.contains(&model) {
                    problems
                        .push(format!("{invariant}: its row lacks `{}` or `{model}`", mutant.name));
                }
            }
            known.push(invariant);
        }
    }
    for mutant in MUTANTS {
        if !mutant.invariant.split(", ").all(|it| known.iter().any(|known| known == it)) {
            problems.push(format!(
                "`{}` is of {}, which is no invariant",
                mutant.name, mutant.invariant
            ));
        }
    }
    problems
}

#[test]
fn each_invariant_has_a_row_with_its_mutants() {
    assert_eq!(problems(TABLE), Vec::<String>::new());
}

/// The control: the check must find a mistake in a table that lacks one of its rows or one of its mutants.
#[test]
fn a_table_that_lacks_something_is_found() {
    for mutant in MUTANTS {
        let name = format!("`{}`", mutant.name);
        assert!(!problems(&TABLE.replace(&name, "–")).is_empty(), "{name} may be missing");
        let without: Vec<_> = TABLE.lines().filter(|line| !line.contains(&name)).collect();
        assert!(!problems(&without.join("\n")).is_empty(), "the row of {name} may be missing");
    }
}
