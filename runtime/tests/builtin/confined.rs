//! No path escapes the working directory, even if links are replaced concurrently.

use std::os::unix::fs::symlink;
use std::sync::atomic::AtomicBool;

use crate::Bench;
use crate::prelude::*;

/// Minimum number of times that the link is replaced.
const FLIPS: u32 = 20_000;
/// Minimum number of concurrent calls.
const CALLS: u32 = 4_000;

/// Replaces a name by a link to a directory outside, a link to one inside, and a directory, in turn, until it is
/// stopped. Returns the number of replacements.
fn flip(bench: &Bench, done: &Arc<AtomicBool>) -> std::thread::JoinHandle<u32> {
    let (link, spare, directory) = (bench.path("link"), bench.path(".spare"), bench.path(".directory"));
    let done = Arc::clone(done);
    std::thread::spawn(move || {
        let mut flips = 0;
        while flips < FLIPS || !done.load(Ordering::Relaxed) {
            // A call may have created a directory of this name while it was unused.
            let _ = fs::remove_dir_all(&link);
            for target in ["../outside", "inside", "../outside"] {
                symlink(target, &spare).unwrap();
                if fs::rename(&spare, &link).is_err() {
                    fs::remove_file(&spare).unwrap();
                }
            }
            let _ = fs::remove_file(&link);
            if fs::rename(&directory, &link).is_ok() {
                fs::rename(&link, &directory).unwrap();
            }
            flips += 5;
        }
        flips
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flipping_symlink_never_escapes_the_directory() {
    let bench = Bench::new(builtin::files())
        .file("inside/file", "inside")
        .file(".directory/file", "inside")
        .file("../outside/file", "outside secret")
        .file("../outside/only", "outside secret");
    let before = crate::names(&bench.base.join("outside"));
    let done = Arc::default();
    let flipping = flip(&bench, &done);
    let toolbox = bench.toolbox();
    let (mut inside, mut refused) = (0_u32, 0_u32);
    while inside + refused < CALLS || !flipping.is_finished() {
        let calls = [
            ("read_file", json!({"path": "link/file"})),
            ("write_file", json!({"path": "link/file", "content": "inside"})),
            ("write_file", json!({"path": "link/new/file", "content": "inside"})),
            ("edit_file", json!({"path": "link/file", "old_text": "inside", "new_text": "inside "})),
            ("edit_file", json!({"path": "link/file", "old_text": "outside", "new_text": "owned"})),
            ("list_files", json!({"path": "link"})),
            ("search", json!({"pattern": "secret", "path": "link"})),
            ("search", json!({"pattern": "secret"})),
        ];
        for (name, arguments) in calls {
            let call = ToolCall::new("1", name, arguments.clone());
            let message = toolbox.run(call, &Turn::new("turn")).await.text();
            let escaped = message.contains("secret\n")
                || message.contains("only")
                || message.contains("outside secret");
            assert!(!escaped, "{name} {arguments}: {message}");
            if message.contains("traversal") { refused += 1 } else { inside += 1 }
        }
        done.store(inside + refused >= CALLS, Ordering::Relaxed);
    }
    assert!(flipping.join().unwrap() >= FLIPS);
    assert!(
        inside > 0 && refused > 0,
        "{inside} inside, {refused} refused: the link was never seen both ways"
    );
    assert_eq!(crate::names(&bench.base.join("outside")), before, "nothing was created outside");
    assert_eq!(fs::read_to_string(bench.base.join("outside/file")).unwrap(), "outside secret");
}
