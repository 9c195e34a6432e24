//! No path leads out of the working directory, whoever moves links meanwhile.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::json;
use toolgen_runtime::builtin;

use crate::Bench;

/// How often the link is moved.
const FLIPS: u32 = 20_000;

/// Moves a link between a directory inside and one outside, until it was moved often enough.
fn flip(bench: &Bench, flips: &Arc<AtomicU32>, done: &Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let (link, spare) = (bench.path("link"), bench.path(".spare"));
    let (flips, done) = (Arc::clone(flips), Arc::clone(done));
    symlink("inside", &link).unwrap();
    std::thread::spawn(move || {
        for number in 0..FLIPS {
            symlink(if number % 2 == 0 { "../outside" } else { "inside" }, &spare).unwrap();
            fs::rename(&spare, &link).unwrap();
            flips.store(number + 1, Ordering::Relaxed);
            if number % 64 == 0 {
                std::thread::yield_now();
            }
        }
        done.store(true, Ordering::Relaxed);
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_escapes_while_a_link_flips() {
    let bench = Bench::new(builtin::files())
        .file("inside/file", "inside")
        .file("../outside/file", "outside secret")
        .file("../outside/only", "outside secret");
    let before = crate::names(&bench.base.join("outside"));
    let (flips, done) = (Arc::default(), Arc::default());
    let flipping = flip(&bench, &flips, &done);
    let (mut inside, mut refused) = (0_u32, 0_u32);
    while !done.load(Ordering::Relaxed) {
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
            let told = bench.text(name, arguments.clone()).await;
            let escaped =
                told.contains("secret\n") || told.contains("only") || told.contains("outside secret");
            assert!(!escaped, "{name} {arguments}: {told}");
            if told.contains("traversal") { refused += 1 } else { inside += 1 }
        }
    }
    flipping.join().unwrap();
    assert_eq!(flips.load(Ordering::Relaxed), FLIPS);
    assert!(
        inside > 0 && refused > 0,
        "{inside} inside, {refused} refused: the link was never seen both ways"
    );
    assert_eq!(crate::names(&bench.base.join("outside")), before, "nothing was created outside");
    assert_eq!(fs::read_to_string(bench.base.join("outside/file")).unwrap(), "outside secret");
}
