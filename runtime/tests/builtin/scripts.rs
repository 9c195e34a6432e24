//! The results of calls as a model reads them: runs the scripts in the directory `scripts`.
//!
//! `tools` selects the tools of a case. `file` and `bytes` write a file, `aged` sets its time and permissions,
//! `shows` prints a file, and `lists` a directory. `/here` stands for the working directory.
//! what is in it, and `lists` what is in a directory. `/here` stands for the working directory.

use std::path::Path;
use std::time::SystemTime;

use toolgen_runtime::engine::executor::LocalExecutor;
use toolgen_test_support::script;

use crate::prelude::*;
use crate::{Bench, names};

fn bytes(words: &str) -> Vec<u8> {
    let byte = |word: &str| u8::from_str_radix(word, 16).unwrap();
    match words.split_once(" * ") {
        Some((times, word)) => vec![byte(word); times.parse().unwrap()],
        None => words.split(' ').map(byte).collect(),
    }
}

impl Bench {
    /// A directory with these tools, which run programs in it.
    fn of(name: &str) -> Bench {
        let tools = match name {
            "files" => builtin::files(),
            "coding" => builtin::coding(),
            "shell" => builtin::shell(),
            "pack" => builtin::pack(),
            other => panic!("there are no tools `{other}`"),
        };
        let mut bench = Bench::new(tools);
        bench.context = bench.context.clone().with_executor(Arc::new(LocalExecutor::new()));
        bench
    }

    /// Sets the time of a file, in seconds before the end of 2025, and its permissions.
    fn age(&self, path: &str, seconds: u64) {
        use std::os::unix::fs::PermissionsExt as _;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_599 - seconds);
        fs::File::options().write(true).open(self.path(path)).unwrap().set_modified(time).unwrap();
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o640)).unwrap();
    }

    /// Calls a tool, and replaces the working directory by `/here` in its result.
    pub(crate) async fn text_here(&self, name: &str, arguments: &str) -> String {
        let root = self.base.join("work").to_str().unwrap().to_owned();
        let arguments = serde_json::from_str(&arguments.replace("/here", &root)).unwrap();
        self.text(name, arguments).await.replace(&root, "/here")
    }
}

fn replay(name: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/builtin/scripts").join(name);
    script::replay(&file, || {
        let mut bench = Bench::new(Vec::new());
        let runtime = &runtime;
        move |word, rest| {
            let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
            let put = |content: &[u8]| {
                let path = bench.path(first);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            };
            match word {
                "tools" => bench = Bench::of(first),
                "file" => put(serde_json::from_str::<String>(more).unwrap().as_bytes()),
                "bytes" => put(&bytes(more)),
                "aged" => bench.age(first, more.parse().unwrap()),
                "call" => return vec![runtime.block_on(bench.text_here(first, more))],
                "shows" => return vec![bench.read(first)],
                "lists" => return names(&bench.path(first)),
                other => panic!("there is no word `{other}`"),
            }
            Vec::new()
        }
    });
}

#[test]
fn file_tools_match_the_script() {
    replay("files.txt");
}

#[test]
fn coding_tools_match_the_script() {
    replay("coding.txt");
}

#[test]
fn shell_tools_match_the_script() {
    replay("shells.txt");
}
