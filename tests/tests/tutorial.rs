//! The guide's tutorial: its blocks are the program `tutorial/program.rs`, with the tests run here, and its mistake is
//! a fixture of `ui/tutorial`. `TRYBUILD=overwrite` writes rustc's text into the page, as it does for the fixture.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "nothing calls the program's `main`")]

use std::fs;
use std::path::{Path, PathBuf};

// The program is included in this module, since none of its items is public.
include!("tutorial/program.rs");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> PathBuf {
    root().join("streamflow/src/guide/tutorial.md")
}

fn read(path: impl AsRef<Path>) -> String {
    // git may have changed the line ends on checkout.
    fs::read_to_string(path).unwrap().replace("\r\n", "\n")
}

fn program() -> String {
    read(root().join("tests/tests/tutorial/program.rs"))
}

/// Returns the page's code blocks of this language.
fn blocks(language: &str) -> Vec<String> {
    let page = read(page());
    let begin = format!("```{language}\n");
    page.split(&*begin).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_blocks_of_the_page_are_the_program() {
    let blocks = blocks("rust");
    // The first block is the kernel, with a `main` that the second block replaces.
    let [kernel, graph, tests] = &blocks[..] else { panic!("{} blocks", blocks.len()) };
    assert!(format!("{graph}\n{tests}") == program(), "the page shows another program");
    let (kernel, _) = kernel.split_once("fn main()").unwrap();
    assert!(graph.starts_with(kernel), "the page begins with another kernel");
}

/// Returns an output without the numbers that differ from run to run: the elapsed time, and the last column,
/// which is ticks per second.
fn without_times(output: &str) -> String {
    let lines = output.lines().map(|line| match line.split_once("elapsed: ") {
        Some((_, rest)) => format!("elapsed: {}", rest.split_once(';').unwrap().1),
        None => match line.rsplit_once(' ') {
            Some((rest, number)) if number.parse::<f64>().is_ok() => rest.trim_end().to_owned(),
            _ => line.to_owned(),
        },
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_output_is_what_the_program_prints() -> Result<()> {
    let platform = Platform::builder().host()?;
    let mut graph = FirstGraph::new(&platform, 4, 3)?;
    let report = graph.run()?;
    let expected = format!("on host\n{:?}\n{report}", graph.sum().sums);
    let shown: Vec<String> = blocks("text").iter().map(|block| without_times(block)).collect();
    let found = shown.contains(&without_times(&expected));
    assert!(found, "the page does not show this output:\n{expected}");
    Ok(())
}

#[test]
fn the_mistake_is_one_line_and_its_text_is_rustcs() {
    let ui = root().join("tests/tests/ui/tutorial");
    let mistake = read(ui.join("forgotten_receive.rs"));
    let differ = |(right, wrong): &(&str, &str)| right != wrong;
    let program = program();
    let lines: Vec<_> = program.lines().zip(mistake.lines()).filter(differ).collect();
    let [(right, wrong)] = lines[..] else { panic!("{lines:?}") };
    assert_eq!(right.replace(".receive()", ""), wrong);
    assert_eq!(program.lines().count(), mistake.lines().count());

    let said = read(ui.join("forgotten_receive.stderr"));
    // The part after this note is about the library.
    let (said, _) = said.split_once("note: required by a bound").unwrap();
    let said = said.replace("tests/ui/tutorial/forgotten_receive.rs", "src/main.rs");
    let text = read(page());
    let begin = text.find("```text\nerror").unwrap() + "```text\n".len();
    let end = begin + text[begin..].find("```").unwrap();
    if std::env::var_os("TRYBUILD").is_some_and(|value| value == "overwrite") {
        let text = format!("{}{said}{}", &text[..begin], &text[end..]);
        fs::write(page(), text).unwrap();
    } else {
        assert!(text[begin..end] == said, "the page does not quote rustc exactly:\n{said}");
    }
    assert!(text.contains(&format!("`{}`", wrong.trim())), "{wrong}");
}
