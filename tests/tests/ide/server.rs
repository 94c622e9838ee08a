//! A rust-analyzer process, queried over LSP.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use streamflow_tests::Failed;

type Result<T> = std::result::Result<T, Failed>;

/// The items of an answer, in the server's order.
pub(crate) struct Answer(pub(crate) Vec<String>);

/// The path of rust-analyzer, or why there is none.
pub(crate) fn find() -> std::result::Result<PathBuf, String> {
    let named = env::var_os("STREAMFLOW_RUST_ANALYZER").map(PathBuf::from);
    let program = named.unwrap_or_else(|| PathBuf::from("rust-analyzer"));
    // rustup installs a program of this name that only reports that the component is missing.
    match Command::new(&program).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => Err(format!(
            "no rust-analyzer: {}",
            String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default()
        )),
        Err(error) => Err(format!("no rust-analyzer: {error}")),
    }
}

/// A running server with one open file.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Removed when the server is dropped.
    directory: tempfile::TempDir,
    requests: i64,
    version: i64,
    text: String,
}

impl Server {
    /// Starts the server on a program of one file that depends on streamflow, and waits until it has indexed it.
    pub(crate) fn start(program: &Path, text: &str) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        fs::write(directory.path().join("main.rs"), text)?;
        let project = project(directory.path())?;
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
                    "textDocument": { "hover": { "contentFormat": ["plaintext"] } },
                },
                "initializationOptions": {
                    "linkedProjects": [project],
                    "checkOnSave": false,
                    "cachePriming": { "enable": false },
                    "procMacro": { "enable": true, "server": macro_server()? },
                },
            }),
        )?;
        server.notify("initialized", json!({}))?;
        let document = json!({ "uri": server.uri("main.rs"), "languageId": "rust", "version": 1, "text": text });
        server.notify("textDocument/didOpen", json!({ "textDocument": document }))?;
        server.wait_until_quiet()?;
        Ok(server)
    }

    /// Replaces the whole text.
    pub(crate) fn change(&mut self, text: &str) -> Result<()> {
        self.version += 1;
        self.text = text.to_owned();
        let document = json!({ "uri": self.uri("main.rs"), "version": self.version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        )
    }

    /// The completions at a position, the most likely first.
    pub(crate) fn completions(&mut self, line: usize, column: usize) -> Result<Answer> {
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
        Ok(Answer(items.into_iter().map(|(_, label)| label).collect()))
    }

    /// The hover text at a position.
    pub(crate) fn hover(&mut self, line: usize, column: usize) -> Result<Answer> {
        let found = self.at("textDocument/hover", line, column)?;
        let contents = &found["contents"];
        let text = contents["value"].as_str().or(contents.as_str()).unwrap_or_default();
        Ok(Answer(vec![text.to_owned()]))
    }

    /// The lines that declare the item at a position; for other files, their names.
    pub(crate) fn definitions(&mut self, line: usize, column: usize) -> Result<Answer> {
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
        Ok(Answer(places.iter().filter_map(line_of).collect()))
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
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let message = self.receive()?;
            if message.get("method").is_none() && message["id"] == json!(id) {
                // -32801: the text has changed meanwhile, so repeat the request.
                return match message["error"]["code"].as_i64() {
                    Some(-32801 | -32802) => self.request(method, message["params"].clone()),
                    Some(_) => Err(Failed::msg(format!("{method}: {}", message["error"]))),
                    None => Ok(message["result"].clone()),
                };
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

    /// The next message that is not a request. Requests of the server get the answer null.
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
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The project for the server: this program, the library, and the macros as built for this test, so that the server
/// builds nothing.
fn project(directory: &Path) -> Result<Value> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let root = |package: &str| ours.join(package).join("src/lib.rs");
    Ok(json!({
        "sysroot": sysroot()?,
        "crates": [
            {
                "root_module": root("streamflow-macros"),
                "display_name": "streamflow_macros",
                "edition": "2024",
                "deps": [],
                "is_proc_macro": true,
                "proc_macro_dylib_path": macros()?,
            },
            {
                "root_module": root("streamflow"),
                "display_name": "streamflow",
                "edition": "2024",
                "deps": [{ "crate": 0, "name": "streamflow_macros" }],
            },
            {
                "root_module": directory.join("main.rs"),
                "display_name": "program",
                "edition": "2024",
                "deps": [{ "crate": 1, "name": "streamflow" }],
            },
        ],
    }))
}

/// The newest library of the macros in this test's directory.
fn macros() -> Result<PathBuf> {
    let test = env::current_exe()?;
    let deps = test.parent().ok_or_else(|| Failed::msg("a test without a directory"))?;
    let mut found: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(deps)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains("streamflow_macros-") && name.ends_with(env::consts::DLL_SUFFIX) {
            found.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    found.sort();
    Ok(found.pop().ok_or_else(|| Failed::msg("the macros' library is not beside this test"))?.1)
}

fn sysroot() -> Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output()?;
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}

/// The program that expands the macros. It must belong to the compiler that built them.
fn macro_server() -> Result<PathBuf> {
    Ok(sysroot()?.join("libexec/rust-analyzer-proc-macro-srv"))
}
