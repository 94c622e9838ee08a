//! A rust-analyzer process to which tests send requests by the Language Server Protocol (LSP).

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use streamflow_tests::Failed;

use crate::project;

type Result<T> = std::result::Result<T, Failed>;

/// Returns the path of rust-analyzer, or the reason why it can't be run.
pub(crate) fn find() -> std::result::Result<PathBuf, String> {
    let named = env::var_os("STREAMFLOW_RUST_ANALYZER").map(PathBuf::from);
    let program = named.unwrap_or_else(|| PathBuf::from("rust-analyzer"));
    // rustup installs a program named `rust-analyzer` even without the component. That program only reports that the
    // component is missing.
    match Command::new(&program).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => {
            Err(missing(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default()))
        }
        Err(error) => Err(missing(error)),
    }
}

fn missing(why: impl std::fmt::Display) -> String {
    format!("no rust-analyzer: {why}; `rustup component add rust-analyzer` installs it")
}

/// A running rust-analyzer with one open file.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The project's temporary directory, which is removed when the server is dropped.
    directory: tempfile::TempDir,
    requests: i64,
    version: i64,
    text: String,
}

impl Server {
    /// Starts the server on a program of one file that depends on streamflow, and waits until the server has indexed
    /// it.
    pub(crate) fn start(program: &Path, text: &str) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        fs::write(directory.path().join("main.rs"), text)?;
        let project = project::describe(directory.path())?;
        let mut child = Command::new(program)
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or_else(|| Failed::msg("no stdin"))?;
        let output = BufReader::new(child.stdout.take().ok_or_else(|| Failed::msg("no stdout"))?);
        let mut server = Self {
            child,
            input,
            output,
            directory,
            requests: 0,
            version: 1,
            text: text.to_owned(),
        };
        let root = server.uri("");
        server.request(
            "initialize",
            json!({
                "processId": std::process::id(),
                "rootUri": root,
                "capabilities": {
                    "experimental": { "serverStatusNotification": true },
                    "textDocument": { "hover": { "contentFormat": ["markdown"] } },
                },
                "initializationOptions": {
                    "linkedProjects": [project],
                    "checkOnSave": false,
                    "cachePriming": { "enable": false },
                    "procMacro": { "enable": true, "server": project::macro_server()? },
                },
            }),
        )?;
        server.notify("initialized", json!({}))?;
        let document = json!({ "uri": server.uri("main.rs"), "languageId": "rust", "version": 1, "text": text });
        server.notify("textDocument/didOpen", json!({ "textDocument": document }))?;
        server.wait_until_quiet()?;
        Ok(server)
    }

    /// Replaces the whole text of the open file.
    pub(crate) fn change(&mut self, text: &str) -> Result<()> {
        self.version += 1;
        self.text = text.to_owned();
        let document = json!({ "uri": self.uri("main.rs"), "version": self.version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        )
    }

    /// Returns the completions at a position, the most likely first.
    pub(crate) fn completions(&mut self, line: usize, column: usize) -> Result<Vec<String>> {
        let found = self.at("textDocument/completion", line, column)?;
        let items = found.get("items").unwrap_or(&found).as_array().cloned().unwrap_or_default();
        let mut items: Vec<(String, String)> = items
            .iter()
            .map(|item| {
                let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
                (
                    text("sortText"),
                    text("label").split(['(', ' ']).next().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        items.sort();
        Ok(items.into_iter().map(|(_, label)| label).collect())
    }

    /// Returns the code in the hover text at a position: for each item its path, such as `program::Stereo`, and the
    /// first line of its declaration.
    pub(crate) fn hover(&mut self, line: usize, column: usize) -> Result<Vec<String>> {
        let found = self.at("textDocument/hover", line, column)?;
        let text = found["contents"]["value"].as_str().unwrap_or_default();
        let mut lines = text.lines();
        let mut code = Vec::new();
        while lines.any(|line| line == "```rust") {
            code.extend(lines.next().map(str::to_owned));
            lines.find(|line| *line == "```");
        }
        Ok(code)
    }

    /// Returns the lines that a rename changes, with their text after the rename.
    pub(crate) fn rename(&mut self, line: usize, column: usize, name: &str) -> Result<Vec<String>> {
        let document = json!({ "uri": self.uri("main.rs") });
        let position = json!({ "line": line, "character": column });
        let params = json!({ "textDocument": document, "position": position, "newName": name });
        let found = self.request("textDocument/rename", params)?;
        let mut edits = Vec::new();
        for file in found["documentChanges"].as_array().into_iter().flatten() {
            for edit in file["edits"].as_array().into_iter().flatten() {
                let [start, end] = ["start", "end"].map(|side| &edit["range"][side]);
                let place = |side: &Value, part: &str| {
                    side[part].as_u64().and_then(|number| usize::try_from(number).ok())
                };
                let place = (|| {
                    let (first, last) = (place(start, "character")?, place(end, "character")?);
                    Some((place(start, "line")?, first..last, edit["newText"].as_str()?.to_owned()))
                })();
                edits.push(place.ok_or_else(|| Failed::msg(format!("no edit: {edit}")))?);
            }
        }
        // Edits are applied from the end, so that the positions of the remaining edits stay valid.
        edits.sort_by_key(|(line, range, _)| std::cmp::Reverse((*line, range.start)));
        let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
        let mut changed = std::collections::BTreeSet::new();
        for (line, range, text) in edits {
            lines[line].replace_range(range, &text);
            changed.insert(line);
        }
        Ok(changed.into_iter().map(|line| lines[line].trim().to_owned()).collect())
    }

    /// Returns the server's own diagnostics, each with its line number, counted from 0.
    pub(crate) fn diagnostics(&mut self) -> Result<Vec<(usize, String)>> {
        let document = json!({ "uri": self.uri("main.rs") });
        let found = self.request("textDocument/diagnostic", json!({ "textDocument": document }))?;
        let items = found["items"].as_array().cloned().unwrap_or_default();
        let items = items.iter().filter_map(|item| {
            let line = usize::try_from(item["range"]["start"]["line"].as_u64()?).ok()?;
            Some((line, item["message"].as_str()?.to_owned()))
        });
        Ok(items.collect())
    }

    /// Returns the lines in the open file that declare the item at a position, and the file names of declarations
    /// elsewhere.
    pub(crate) fn definitions(&mut self, line: usize, column: usize) -> Result<Vec<String>> {
        let found = self.at("textDocument/definition", line, column)?;
        let ours = self.uri("main.rs");
        let places = found.as_array().cloned().unwrap_or_else(|| vec![found]);
        let line_of = |place: &Value| {
            let (uri, range) = (
                place["uri"].as_str().or(place["targetUri"].as_str())?,
                place.get("range").or(place.get("targetSelectionRange"))?,
            );
            if uri != ours {
                return Some(uri.to_owned());
            }
            let line = usize::try_from(range["start"]["line"].as_u64()?).ok()?;
            Some(self.text.lines().nth(line)?.to_owned())
        };
        Ok(places.iter().filter_map(line_of).collect())
    }

    fn at(&mut self, method: &str, line: usize, column: usize) -> Result<Value> {
        let document = json!({ "uri": self.uri("main.rs") });
        let position = json!({ "line": line, "character": column });
        self.request(method, json!({ "textDocument": document, "position": position }))
    }

    fn uri(&self, file: &str) -> String {
        format!("file://{}", self.directory.path().join(file).display())
    }

    fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        loop {
            self.requests += 1;
            let id = self.requests;
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
            let answer = loop {
                let message = self.receive()?;
                if message.get("method").is_none() && message["id"] == json!(id) {
                    break message;
                }
            };
            match answer["error"]["code"].as_i64() {
                // The server dropped the request because the text has changed. The request is sent again.
                Some(-32801 | -32802) => {}
                Some(_) => return Err(Failed::msg(format!("{method}: {}", answer["error"]))),
                None => return Ok(answer["result"].clone()),
            }
        }
    }

    fn wait_until_quiet(&mut self) -> Result<()> {
        loop {
            let message = self.receive()?;
            if message["method"] == "experimental/serverStatus" {
                let status = &message["params"];
                if status["health"] == "error" {
                    return Err(Failed::msg(format!("rust-analyzer: {status}")));
                }
                if status["quiescent"] == true {
                    return Ok(());
                }
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        Ok(self.input.flush()?)
    }

    /// Returns the server's next response or notification. A request of the server is answered with null.
    fn receive(&mut self) -> Result<Value> {
        loop {
            let mut length = 0;
            loop {
                let mut header = String::new();
                if self.output.read_line(&mut header)? == 0 {
                    return Err(Failed::msg("rust-analyzer has ended"));
                }
                match header.trim() {
                    "" => break,
                    header => {
                        if let Some(number) = header.strip_prefix("Content-Length: ") {
                            length = number.parse()?;
                        }
                    }
                }
            }
            let mut body = vec![0; length];
            self.output.read_exact(&mut body)?;
            let message: Value = serde_json::from_slice(&body)?;
            if message.get("id").is_some() && message.get("method").is_some() {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }))?;
                continue;
            }
            return Ok(message);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may already have ended, so errors are ignored.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
