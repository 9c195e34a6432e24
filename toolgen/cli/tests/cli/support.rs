//! Shared helpers of these tests: directories of documents, runs of the command, and MCP clients.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

/// Returns the root directory of the repository.
pub(crate) fn checkout() -> PathBuf {
    toolgen_test_support::pages::root()
}

/// Returns the path of an example of the repository.
pub(crate) fn spec(name: &str) -> String {
    checkout().join("specs").join(name).to_str().unwrap().to_owned()
}

/// Returns the directory of documents that tests only read.
pub(crate) fn documents() -> Folder {
    Folder::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents"))
}

/// A directory in which the command runs.
pub(crate) struct Folder {
    path: PathBuf,
    variables: Vec<(String, String)>,
}

impl Folder {
    /// Uses an existing directory.
    pub(crate) fn at(path: &Path) -> Folder {
        Folder { path: path.to_path_buf(), variables: Vec::new() }
    }

    /// Creates an empty directory. The name must be unique among the tests.
    pub(crate) fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder::at(&path)
    }

    /// Returns the path of a file.
    pub(crate) fn path(&self, file: &str) -> String {
        self.join(file).to_str().unwrap().to_owned()
    }

    /// Writes a file, and creates its directory.
    pub(crate) fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let file = self.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Adds a file.
    pub(crate) fn with(self, file: &str, text: impl AsRef<[u8]>) -> Folder {
        self.write(file, text);
        self
    }

    /// Adds an environment variable for commands in the directory.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Folder {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.join(file)).unwrap()
    }

    /// Runs the command with the [`words`] of a line.
    pub(crate) fn run(&self, line: impl AsRef<str>) -> Ran {
        self.run_with(line, &[])
    }

    /// Like [`Self::run`], with environment variables.
    pub(crate) fn run_with(&self, line: impl AsRef<str>, variables: &[(&str, &str)]) -> Ran {
        self.toolgen(line).envs(variables.iter().copied()).ran("")
    }

    /// Returns the command with the [`words`] of a line, without color variables of the environment.
    pub(crate) fn toolgen(&self, line: impl AsRef<str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        offline(&mut command).current_dir(&self.path).args(words(line.as_ref()));
        command
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

/// Makes builds of a command fast and offline. They share a target directory, so that common dependencies are built
/// once; it is not that of the workspace, which the build that runs these tests may lock.
pub(crate) fn offline(command: &mut Command) -> &mut Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects-target");
    command.env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true").env_remove("RUSTFLAGS");
    // Release builds run only once, and optimization would take minutes.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
}

/// Splits a line into words, like a shell that supports only single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted, mut started) = (vec![String::new()], false, false);
    for char in line.chars() {
        match char {
            '\'' => (quoted, started) = (!quoted, true),
            char if char.is_whitespace() && !quoted => {
                if std::mem::take(&mut started) {
                    words.push(String::new());
                }
            }
            char => {
                words.last_mut().unwrap().push(char);
                started = true;
            }
        }
    }
    assert!(!quoted, "a quote is not closed: {line}");
    words.truncate(words.len() - usize::from(!started));
    words
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    command: String,
}

pub(crate) trait Run {
    /// Runs the command with this input.
    fn output_of(&mut self, input: &[u8]) -> Output;

    /// Like [`Self::output_of`], for a command that prints only text.
    fn ran(&mut self, input: &str) -> Ran;
}

impl Run for Command {
    fn output_of(&mut self, input: &[u8]) -> Output {
        let streams = self.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        // A command that does not read its input may have exited already.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    fn ran(&mut self, input: &str) -> Ran {
        let Output { status, stdout, stderr } = self.output_of(input.as_bytes());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let command = format!("{self:?}");
        Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr), command }
    }
}

impl Ran {
    /// Asserts a condition, and prints the whole run if it is false.
    #[track_caller]
    fn claim(self, holds: impl Fn(&Ran) -> bool, what: &str) -> Ran {
        let holds = holds(&self);
        let Ran { code, stdout, stderr, command } = &self;
        assert!(holds, "{command}\n{what}\n-- exit {code:?}\n-- stdout\n{stdout}\n-- stderr\n{stderr}");
        self
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        self.claim(|ran| ran.code == Some(code), &format!("it does not exit with {code}"))
    }

    /// Asserts that standard output contains a text; `prints_no` asserts that it does not.
    #[track_caller]
    pub(crate) fn prints(self, part: &str) -> Ran {
        self.claim(|ran| ran.stdout.contains(part), &format!("it does not print `{part}`"))
    }

    #[track_caller]
    pub(crate) fn prints_no(self, part: &str) -> Ran {
        self.claim(|ran| !ran.stdout.contains(part), &format!("it prints `{part}`"))
    }

    /// Asserts the start of standard output.
    #[track_caller]
    pub(crate) fn starts(self, part: &str) -> Ran {
        self.claim(|ran| ran.stdout.starts_with(part), &format!("it does not print `{part}` first"))
    }

    /// Asserts the end of standard output.
    #[track_caller]
    pub(crate) fn ends(self, part: &str) -> Ran {
        self.claim(|ran| ran.stdout.ends_with(part), &format!("it does not print `{part}` last"))
    }

    /// Asserts the whole standard output.
    #[track_caller]
    pub(crate) fn printed(self, whole: &str) -> Ran {
        self.claim(|ran| ran.stdout == whole, &format!("it does not print exactly `{whole}`"))
    }

    /// Asserts that standard error contains a text; `tells_no` asserts that it does not.
    #[track_caller]
    pub(crate) fn tells(self, part: &str) -> Ran {
        self.claim(|ran| ran.stderr.contains(part), &format!("it does not tell `{part}`"))
    }

    #[track_caller]
    pub(crate) fn tells_no(self, part: &str) -> Ran {
        self.claim(|ran| !ran.stderr.contains(part), &format!("it tells `{part}`"))
    }

    /// Asserts the end of standard error.
    #[track_caller]
    pub(crate) fn tells_last(self, part: &str) -> Ran {
        self.claim(|ran| ran.stderr.ends_with(part), &format!("it does not tell `{part}` last"))
    }

    /// Asserts the whole standard error.
    #[track_caller]
    pub(crate) fn told(self, whole: &str) -> Ran {
        self.claim(|ran| ran.stderr == whole, &format!("it does not tell exactly `{whole}`"))
    }

    /// Parses standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Returns the embedded data of a timeline page.
pub(crate) fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Returns the first messages of an MCP client.
pub(crate) fn hello(capabilities: &Value) -> [Value; 2] {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
    [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

/// An MCP client over the standard streams of a server. It answers all elicitations in the same way.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    /// The result of `initialize`.
    pub(crate) server: Value,
    /// Whether it approves calls.
    pub(crate) approves: bool,
    /// The questions of the server.
    pub(crate) asked: Vec<String>,
}

impl Client {
    /// Starts a server.
    pub(crate) fn start(command: &mut Command, capabilities: &Value) -> Client {
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (server, asked) = (Value::Null, Vec::new());
        let mut client = Client { child, input, output, next: 1, server, approves: true, asked };
        let [first, second] = hello(capabilities);
        client.say(&first);
        client.server = client.answer(0);
        client.say(&second);
        client
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// Reads the next message, which is one line; `None` at the end.
    fn heard(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// Returns the response to a request.
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let Some(mut message) = self.heard() else {
                let mut described = String::new();
                self.child.stderr.take().unwrap().read_to_string(&mut described).unwrap();
                panic!("the server is gone: {described}");
            };
            if message["method"] == "elicitation/create" {
                self.asked.push(message["params"]["message"].as_str().unwrap().to_owned());
                let response = match self.approves {
                    true => json!({"action": "accept", "content": {"approve": true}}),
                    false => json!({"action": "decline"}),
                };
                self.say(&json!({"jsonrpc": "2.0", "id": message["id"], "result": response}));
            } else if message["id"] == id {
                return message["result"].take();
            }
        }
    }

    /// Sends a request and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.answer(id)
    }

    /// Returns the names of the listed tools.
    pub(crate) fn names(&mut self) -> Vec<String> {
        let listed = self.request("tools/list", &json!({}));
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Sends these requests without waiting and closes the input, like a client that disconnects. Returns the results
    /// and the standard error of the server.
    pub(crate) fn leave_with(mut self, requests: &[(&str, Value)]) -> (Vec<Value>, String) {
        let first = self.next;
        for (id, (method, params)) in (first..).zip(requests) {
            self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        }
        let Client { mut child, input, output, .. } = self;
        drop(input);
        let mut results = vec![Value::Null; requests.len()];
        for line in output.lines() {
            let mut message: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let place =
                message["id"].as_u64().and_then(|id| results.get_mut(usize::try_from(id - first).unwrap()));
            *place.unwrap() = message["result"].take();
        }
        let mut described = String::new();
        child.stderr.take().unwrap().read_to_string(&mut described).unwrap();
        assert!(child.wait().unwrap().success(), "{described}");
        (results, described)
    }

    /// Closes the input of the server, which must exit successfully. Returns its standard error.
    pub(crate) fn end(self) -> String {
        let Client { mut child, input, output, .. } = self;
        drop(input);
        // Standard output contains only messages, one per line.
        for line in output.lines().map(Result::unwrap) {
            assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["jsonrpc"], "2.0", "{line}");
        }
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert!(child.wait().unwrap().success(), "{message}");
        message
    }
}
