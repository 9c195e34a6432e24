//! Tests of responses that are saved to files.

use std::path::{Path, PathBuf};

use toolgen_runtime::engine::http::{Files, FilesRoot, NewFile, SavedFile};
use toolgen_runtime::{CancellationToken, Content};

use crate::prelude::*;
use crate::server::{call, engine, plan, secured, tool};

/// A separate directory, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("toolgen-save-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("in")).unwrap();
        Folder(path)
    }

    fn path(&self) -> PathBuf {
        self.0.join("in")
    }

    /// Returns the names of its files.
    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn saved(engine: HttpEngineBuilder, path: &str, steps: Vec<Step>) -> ToolResult {
    let server = Server::start(move |_| steps.clone());
    call(engine, plan("GET", &server.url, path), json!({})).await.unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn binary_response_is_saved_and_referenced() {
    let dir = Folder::new("bytes");
    let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let headers =
        "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"../Q 1.pdf\"\r\n";
    for name in ["Q 1.pdf", "Q 1-1.pdf"] {
        let result = saved(engine().save_to(dir.path()), "/x", reply(200, headers, &bytes)).await;
        let note = format!("[application/pdf, 800000 bytes, saved as `{name}`, SHA-256 {}]", sha256(&bytes));
        assert!(result.to_text().ends_with(&format!(" → 200\n\n{note}")), "{}", result.to_text());
        assert_eq!(
            result.details["saved"],
            json!({"path": name, "media_type": "application/pdf", "bytes": 800_000, "sha256": sha256(&bytes)})
        );
        assert_eq!(result.details["truncated"], false);
        let uri = reqwest::Url::from_file_path(dir.path().canonicalize().unwrap().join(name)).unwrap();
        let link = Content::Link {
            uri: uri.into(),
            name: name.to_owned(),
            mime_type: "application/pdf".to_owned(),
            size: Some(800_000),
        };
        assert_eq!(result.content[1..], [link]);
        assert_eq!(dir.read(name), bytes);
    }
    assert_eq!(dir.names(), ["Q 1-1.pdf", "Q 1.pdf"]);
}

#[tokio::test]
async fn image_is_shown_and_saved_and_long_text_is_truncated() {
    let dir = Folder::new("shown");
    let engine = || engine().save_to(dir.path()).max_bytes(100);
    let result = saved(engine(), "/pics/7", reply(200, "Content-Type: image/png\r\n", b"\x89PNG")).await;
    assert!(matches!(result.content[1], Content::Image { .. }), "{result:?}");
    let text = "é".repeat(1000);
    let result = saved(engine(), "/notes", reply(200, "Content-Type: text/csv\r\n", &text)).await;
    let displayed = result.to_text();
    assert!(
        displayed.contains("é\n... [truncated]\n[text/csv, 2000 bytes, saved as `notes.csv`"),
        "{displayed}"
    );
    assert_eq!(
        (&result.details["truncated"], result.details["saved"]["bytes"].as_u64()),
        (&json!(true), Some(2000))
    );
    assert_eq!(dir.read("notes.csv"), text.as_bytes());
    // A response that a model sees in full is saved only if all responses are.
    saved(engine(), "/short", reply(200, "Content-Type: text/plain\r\n", b"ok")).await;
    saved(engine(), "/failed", reply(500, "Content-Type: application/pdf\r\n", b"\0")).await;
    assert_eq!(dir.names(), ["7.png", "notes.csv"]);
    let result =
        saved(engine().save_all(true), "/short", reply(200, "Content-Type: text/plain\r\n", b"ok")).await;
    assert!(
        result.to_text().contains("→ 200\n\nok\n[text/plain, 2 bytes, saved as `short.txt`"),
        "{result:?}"
    );
}

#[tokio::test]
async fn incomplete_file_is_deleted() {
    let dir = Folder::new("part");
    let head = || open("Content-Type: application/zip\r\n");
    // It exceeds the maximum file size.
    let small = FilesRoot::new(dir.path()).max_file_bytes(100_000);
    let result = saved(engine().save_with(small), "/x", vec![head(), Step::Flood(vec![b'x'; 4096])]).await;
    assert_eq!(result.details["not_saved"], "it is larger than 100000 bytes");
    assert!(result.to_text().ends_with("\n[not saved: it is larger than 100000 bytes]"), "{result:?}");
    // The connection breaks.
    let broken =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 100000000\r\n\r\n".to_vec();
    let steps = vec![Step::Send(broken), Step::Send(vec![b'x'; 300_000])];
    let server = Server::start(move |_| steps.clone());
    let failed = call(engine().save_to(dir.path()), plan("GET", &server.url, "/x"), json!({})).await;
    assert_eq!(failed.unwrap_err().code(), "READ_ERROR");
    // The response is incomplete: compressed data that is cut off, chunks without the last one, and a stream that
    // does not end within the time limit.
    let zipped = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xed\xc1\x01\x01\0\0\0\x80\x90\xfe\xaf\xee";
    let chunked = b"8\r\nPK\0\0\0\0\0\0\r\n".to_vec();
    for steps in [
        reply(200, "Content-Type: application/zip\r\nContent-Encoding: gzip\r\n", zipped),
        vec![open("Content-Type: application/zip\r\nTransfer-Encoding: chunked\r\n"), Step::Send(chunked)],
    ] {
        let server = Server::start(move |_| steps.clone());
        let failed = call(engine().save_to(dir.path()), plan("GET", &server.url, "/x"), json!({})).await;
        assert_eq!(failed.unwrap_err().code(), "READ_ERROR");
    }
    let events = open("Content-Type: text/event-stream\r\n");
    let steps = vec![events, Step::Send(b"data: 1\n\n".to_vec()), Step::Wait(Duration::from_secs(60))];
    let endless = engine().save_to(dir.path()).save_all(true).timeout(Duration::from_millis(700));
    let result = saved(endless, "/x", steps).await;
    assert_eq!(result.details["not_saved"], "it had not ended when the call timed out");
    assert!(result.to_text().contains("\n1\n... [truncated]"), "{result:?}");
    assert!(dir.names().is_empty(), "{:?}", dir.names());
    // The call is cancelled, or times out.
    let steps = vec![head(), Step::Send(vec![b'x'; 300_000]), Step::Wait(Duration::from_secs(60))];
    let server = Server::start(move |_| steps.clone());
    let engine = engine().save_to(dir.path()).build().unwrap();
    let registry = Registry::new(engine.tools_from([tool(plan("GET", &server.url, "/x"))])).unwrap();
    let cancel = CancellationToken::new();
    let ctx = Turn::default().call_context("1", "t").with_cancel(cancel.clone());
    let run = registry.get("t").unwrap().execute(json!({}), &ctx);
    let (failed, ()) = tokio::join!(run, async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    });
    failed.unwrap_err();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[tokio::test]
async fn full_or_missing_directory_is_reported_with_the_response() {
    let dir = Folder::new("full");
    std::fs::write(dir.path().join("old"), [0; 1000]).unwrap();
    let pdf = || reply(200, "Content-Type: application/pdf\r\n", [0; 600]);
    let full = FilesRoot::new(dir.path()).max_saved_bytes(1500);
    for (place, reason) in [
        (full.clone(), "it is larger than 500 bytes"),
        (full.max_saved_bytes(1000), "the directory for files contains 1000 bytes, and is full"),
        (FilesRoot::new(dir.path().join("gone")), "the directory for files does not exist"),
    ] {
        let result = saved(engine().save_with(place), "/x", pdf()).await;
        assert_eq!(result.details["not_saved"], reason);
        assert!(matches!(result.content[1], Content::Resource { .. }), "{result:?}");
    }
    assert_eq!(dir.names(), ["old"]);
}

#[cfg(unix)]
#[tokio::test]
async fn no_file_is_written_outside_the_directory() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let dir = Folder::new("outside");
    std::fs::write(dir.0.join("victim"), b"old").unwrap();
    for link in ["a.pdf", "dangling.pdf"] {
        let target = if link == "a.pdf" { "../victim" } else { "../new" };
        symlink(target, dir.path().join(link)).unwrap();
    }
    for (named, name) in
        [("a.pdf", "a-1.pdf"), ("dangling.pdf", "dangling-1.pdf"), ("..\\..\\etc/x.pdf", "x.pdf")]
    {
        let headers = format!(
            "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename*=UTF-8''{}\r\n",
            named.replace('\\', "%5C")
        );
        let result = saved(engine().save_to(dir.path()), "/x", reply(200, &headers, b"\0new")).await;
        assert_eq!(result.details["saved"]["path"], name);
        let mode = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(std::fs::read(dir.0.join("victim")).unwrap(), b"old");
    assert!(!Path::new(&dir.0.join("new")).exists());
}

#[tokio::test]
async fn file_with_a_credential_in_content_or_name_is_not_saved() {
    let dir = Folder::new("secret");
    let mut bytes = vec![0; 300_000];
    // The secret spans two chunks.
    let at = 256 * 1024 - 4;
    bytes[at..at + 12].copy_from_slice(b"hunter2hunte");
    for (bytes, saves) in [(bytes, false), (vec![0; 100], true)] {
        let headers =
            "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=hunter2hunte.pdf\r\n";
        let response = reply(200, headers, &bytes);
        let server = Server::start(move |_| response.clone());
        let plan = secured(plan("GET", &server.url, "/x"), Placement::Bearer);
        let credentials = StaticCredentials::new().with("s", Secret::new("hunter2hunte"));
        let result =
            call(engine().credentials(credentials).save_to(dir.path()), plan, json!({})).await.unwrap();
        assert_eq!(result.details["saved"]["path"] == "answer.pdf", saves, "{:?}", result.details);
    }
    assert_eq!(dir.names(), ["answer.pdf"]);
}

/// Writes data immediately, as standard output does.
#[derive(Clone, Debug, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Files for Pipe {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("it is a pipe".to_owned())
    }

    fn create(&self, _: &str) -> Result<Box<dyn NewFile>, String> {
        Ok(Box::new(self.clone()))
    }
}

impl NewFile for Pipe {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<SavedFile, String> {
        Ok(SavedFile { path: "-".to_owned(), uri: String::new() })
    }
}

impl Pipe {
    fn taken(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn partial_credential_is_never_written() {
    let secret = "hunter2hunte-é-s3cr3t";
    let secured_call = async |steps: Vec<Step>, pipe: Pipe| {
        let server = Server::start(move |_| steps.clone());
        let plan = secured(plan("GET", &server.url, "/x"), Placement::Query("key".into()));
        let credentials = StaticCredentials::new().with("s", Secret::new(secret));
        // Content that a model does not see is written as it arrives.
        let engine = engine().credentials(credentials).save_with(pipe).save_all(true).max_bytes(4);
        call(engine, plan, json!({})).await.unwrap()
    };
    for (before, media_type) in [(b"safe ".to_vec(), "text/plain"), (vec![0xff; 300_000], "application/pdf")]
    {
        for echoed in [secret.to_owned(), secret.replace('2', "%2532"), secret.replace('\u{e9}', "\\u00e9")] {
            // In chunks that arrive one by one.
            let mut steps =
                vec![open(&format!("Content-Type: {media_type}\r\n")), Step::Send(before.clone())];
            for piece in echoed.as_bytes().chunks(7) {
                steps.extend([Step::Send(piece.to_vec()), Step::Wait(Duration::from_millis(30))]);
            }
            steps.push(Step::Send(vec![b' '; 100_000]));
            let pipe = Pipe::default();
            let result = secured_call(steps, pipe.clone()).await;
            assert_eq!(result.details["not_saved"], "it contains a credential");
            let taken = pipe.taken();
            assert!(before.starts_with(&taken), "{echoed}: {:?}", String::from_utf8_lossy(&taken));
        }
    }
    // The possible start of a secret arrives completely, and other data arrives before the response ends.
    let pipe = Pipe::default();
    let wait = || Step::Wait(Duration::from_millis(600));
    let steps = vec![open("Content-Type: text/plain\r\n"), Step::Send(b"one hunter2h".to_vec()), wait()];
    let seen = pipe.clone();
    let (result, early) = tokio::join!(
        secured_call(
            [steps, vec![Step::Send(b" two.".to_vec()), wait(), Step::Send(b" hunter".to_vec())]].concat(),
            pipe.clone()
        ),
        async move {
            tokio::time::sleep(Duration::from_millis(900)).await;
            seen.taken()
        }
    );
    assert_eq!(String::from_utf8_lossy(&early), "one hunter2h two.");
    assert_eq!(result.details["saved"]["bytes"], 24);
    assert_eq!(pipe.taken(), b"one hunter2h two. hunter");
}

#[tokio::test]
async fn saved_file_can_be_sent_and_total_size_is_limited() {
    let dir = Folder::new("again");
    saved(engine().save_to(dir.path()), "/a.bin", reply(200, "Content-Type: a/b\r\n", b"\0bytes")).await;
    let place = FilesRoot::new(dir.path()).max_file_bytes(10);
    let server = Server::ok();
    let send = |files: Value| {
        call(
            engine().files(place.clone()),
            crate::requests::with_files(&server.url),
            json!({ "files": files }),
        )
    };
    let one = json!({"path": "a.bin"});
    send(json!([one])).await.unwrap();
    let body = server.only().body;
    assert!(body.windows(6).any(|part| part == b"\0bytes"), "{body:?}");
    let refused = send(json!([one, one])).await.unwrap_err();
    assert!(refused.to_string().contains("more than 10 bytes together"), "{refused}");
    assert_eq!(server.seen().len(), 1);
}
