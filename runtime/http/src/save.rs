//! Saves the body of a response to a file while it arrives.

use std::sync::Arc;

use reqwest::Response;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use toolgen_kernel::base::media_type::essence;
use toolgen_kernel::base::sha256::hex;
use toolgen_kernel::call::result::{Content, ToolResult};

use super::filename;
use super::files::{Files, SavedFile};
use super::request::HttpRequest;
use super::secret::AppliedCredentials;
use super::transport::header;

/// Maximum number of chunks that wait for the disk before the network waits.
const MAX_PENDING_CHUNKS: usize = 8;

/// Maximum number of bytes that are searched for credentials in one step.
const SECRET_SCAN_BYTES: usize = 256 << 10;

/// The store for responses, and which responses it gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct SaveOptions<'s> {
    pub(super) store: &'s Arc<dyn Files>,
    /// Whether every response is saved, not only those that a model cannot see in full.
    pub(super) all: bool,
}

/// A body that was saved to a file.
pub(super) struct SavedBody {
    file: SavedFile,
    media_type: String,
    size: u64,
    sha256: String,
}

impl SavedBody {
    /// Returns the note about the file that a model reads.
    pub(super) fn note(&self) -> String {
        let SavedBody { file, media_type, size, sha256 } = self;
        format!("[{media_type}, {size} bytes, saved as `{}`, SHA-256 {sha256}]", file.path)
    }

    /// Returns the link to the file, if it has a URI.
    pub(super) fn link(&self) -> Option<Content> {
        let SavedBody { file, media_type, size, .. } = self;
        (!file.uri.is_empty()).then(|| Content::Link {
            uri: file.uri.clone(),
            name: file.path.clone(),
            mime_type: media_type.clone(),
            size: Some(*size),
        })
    }

    pub(super) fn details(&self) -> Value {
        let SavedBody { file, media_type, size, sha256 } = self;
        json!({ "path": file.path, "media_type": media_type, "bytes": size, "sha256": sha256 })
    }
}

/// Adds the saved file to a result, or the reason why the body was not saved.
pub(super) fn report_saved_file(
    result: &mut ToolResult,
    head: &str,
    is_text: bool,
    saved: Result<SavedBody, String>,
) {
    let saved = match saved {
        Ok(saved) => saved,
        Err(error) => {
            result.content.push(Content::Text(format!("[not saved: {error}]")));
            result.details["not_saved"] = error.into();
            return;
        }
    };
    if is_text {
        result.content.push(Content::Text(saved.note()));
    } else {
        // Images and audio are also shown to the model.
        result.content.retain(|content| matches!(content, Content::Image { .. } | Content::Audio { .. }));
        result.content.insert(0, Content::Text(format!("{head}\n\n{}", saved.note())));
        result.details["truncated"] = false.into();
    }
    result.content.extend(saved.link());
    result.details["saved"] = saved.details();
}

/// Returns the file name and the media type of a response. The name comes from the headers, or else from the end of
/// the URL, with credentials redacted.
pub(super) fn file_name(
    request: &HttpRequest,
    headers: &HeaderMap,
    content_type: &str,
    url: &str,
) -> (String, String) {
    let media_type = essence(content_type);
    let media_type = if media_type.is_empty() { "application/octet-stream".to_owned() } else { media_type };
    let disposition = header(headers, "content-disposition");
    let suggested =
        filename::of_disposition(&disposition).or_else(|| filename::of_url(url)).unwrap_or_default();
    let has_secret = request.credentials.redact(&suggested) != suggested || suggested.contains("****");
    let name = filename::sanitized(if has_secret { "" } else { &suggested });
    (filename::with_extension(&name, &media_type), media_type)
}

/// Saves a body.
///
/// `start` is the part that was already read, and `has_more` states whether more bytes follow. The inner error gives
/// the model the reason why the body was not saved.
pub(super) async fn body(
    options: SaveOptions<'_>,
    request: &HttpRequest,
    (response, has_more): (&mut Response, bool),
    start: Vec<u8>,
    (name, media_type): (String, String),
    deadline: Option<Instant>,
) -> Result<Result<SavedBody, String>, reqwest::Error> {
    let (sender, chunks) = mpsc::channel(MAX_PENDING_CHUNKS);
    let (store, credentials) = (Arc::clone(options.store), request.credentials.clone());
    // Writing blocks, which a task on a shared thread must not do.
    let outcome = tokio::task::spawn_blocking(move || write(&*store, &name, chunks, &credentials));
    // After an error, the writer stops receiving, and its error is reported.
    let mut is_receiving = sender.send(Ok(Some(start))).await.is_ok();
    while is_receiving {
        let chunk = match deadline {
            _ if !has_more => Ok(None),
            Some(deadline) => match timeout_at(deadline, response.chunk()).await {
                Ok(chunk) => Ok(chunk?),
                Err(_) => Err("it had not ended when the call timed out"),
            },
            None => Ok(response.chunk().await?),
        };
        is_receiving = matches!(chunk, Ok(Some(_)));
        is_receiving &= sender.send(chunk.map(|chunk| chunk.map(Vec::from))).await.is_ok();
    }
    let outcome = outcome.await.unwrap_or_else(|_| Err("it could not be written".to_owned()));
    Ok(outcome.map(|(file, size, sha256)| SavedBody { file, media_type, size, sha256 }))
}

/// A part of a body; `None` at its end; or the reason why the body does not end.
type Chunk = Result<Option<Vec<u8>>, &'static str>;

/// Writes chunks until a `None`. If the channel closes earlier, the file is discarded. Bytes that may be part of a
/// credential are held back until more bytes decide, because bytes on standard output cannot be withdrawn.
fn write(
    store: &dyn Files,
    name: &str,
    mut chunks: mpsc::Receiver<Chunk>,
    credentials: &AppliedCredentials,
) -> Result<(SavedFile, u64, String), String> {
    let mut file = store.create(name)?;
    let (mut size, mut hash) = (0, Sha256::new());
    let mut pending: Vec<u8> = Vec::new();
    loop {
        let chunk = chunks.blocking_recv().ok_or("the call is over")??;
        let is_last = chunk.is_none();
        pending.append(&mut chunk.unwrap_or_default());
        // Chunks that are already available are searched together; data of a slow service is not held back.
        if !is_last && pending.len() < SECRET_SCAN_BYTES && !chunks.is_empty() {
            continue;
        }
        let safe_len = credentials.secret_free_prefix(&pending, is_last).ok_or("it contains a credential")?;
        file.write(&pending[..safe_len])?;
        hash.update(&pending[..safe_len]);
        size += safe_len as u64;
        pending.drain(..safe_len);
        if is_last {
            break;
        }
    }
    Ok((file.commit()?, size, hex(&hash.finalize())))
}
