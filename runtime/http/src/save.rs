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
pub(super) struct Saving<'s> {
    pub(super) place: &'s Arc<dyn Files>,
    /// Whether every response is saved, not only those that a model cannot see in full.
    pub(super) all: bool,
}

/// A body that was saved.
pub(super) struct Saved {
    file: SavedFile,
    media_type: String,
    size: u64,
    sha256: String,
}

impl Saved {
    /// Returns the note about the file that a model reads.
    pub(super) fn note(&self) -> String {
        let Saved { file, media_type, size, sha256 } = self;
        format!("[{media_type}, {size} bytes, saved as `{}`, SHA-256 {sha256}]", file.path)
    }

    /// Returns the link to the file, if it has a URI.
    pub(super) fn link(&self) -> Option<Content> {
        let Saved { file, media_type, size, .. } = self;
        (!file.uri.is_empty()).then(|| Content::Link {
            uri: file.uri.clone(),
            name: file.path.clone(),
            mime_type: media_type.clone(),
            size: Some(*size),
        })
    }

    pub(super) fn details(&self) -> Value {
        let Saved { file, media_type, size, sha256 } = self;
        json!({ "path": file.path, "media_type": media_type, "bytes": size, "sha256": sha256 })
    }
}

/// Adds the saved file to a result, or the reason why the body was not saved.
pub(super) fn report_saved_file(
    result: &mut ToolResult,
    head: &str,
    is_text: bool,
    saved: Result<Saved, String>,
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
        result.content.retain(|piece| matches!(piece, Content::Image { .. } | Content::Audio { .. }));
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
    let named = filename::of_disposition(&disposition).or_else(|| filename::of_url(url)).unwrap_or_default();
    let shows = request.credentials.redact(&named) != named || named.contains("****");
    let name = filename::plain(if shows { "" } else { &named });
    (filename::with_ending(&name, &media_type), media_type)
}

/// Saves a body.
///
/// `first` is the part that was already read, and `more` tells whether more follows. The inner error is the reason,
/// for a model, why the body was not saved.
pub(super) async fn body(
    saving: Saving<'_>,
    request: &HttpRequest,
    (response, more): (&mut Response, bool),
    first: Vec<u8>,
    (name, media_type): (String, String),
    until: Option<Instant>,
) -> Result<Result<Saved, String>, reqwest::Error> {
    let (sender, chunks) = mpsc::channel(MAX_PENDING_CHUNKS);
    let (place, credentials) = (Arc::clone(saving.place), request.credentials.clone());
    // Writing blocks, which a task on a shared thread must not do.
    let written = tokio::task::spawn_blocking(move || write(&*place, &name, chunks, &credentials));
    // After an error, the writer stops receiving, and its error is the one that is reported.
    let mut goes_on = sender.send(Ok(Some(first))).await.is_ok();
    while goes_on {
        let chunk = match until {
            _ if !more => Ok(None),
            Some(until) => match timeout_at(until, response.chunk()).await {
                Ok(chunk) => Ok(chunk?),
                Err(_) => Err("it had not ended when the call timed out"),
            },
            None => Ok(response.chunk().await?),
        };
        goes_on = matches!(chunk, Ok(Some(_)));
        goes_on &= sender.send(chunk.map(|chunk| chunk.map(Vec::from))).await.is_ok();
    }
    let written = written.await.unwrap_or_else(|_| Err("it could not be written".to_owned()));
    Ok(written.map(|(file, size, sha256)| Saved { file, media_type, size, sha256 }))
}

/// A part of a body; `None` at its end; or the reason why the body does not end.
type Chunk = Result<Option<Vec<u8>>, &'static str>;

/// Writes chunks until a `None`. If the channel closes earlier, the file is discarded. Bytes that may be part of a
/// credential are held back until that is certain, because bytes on standard output cannot be withdrawn.
fn write(
    place: &dyn Files,
    name: &str,
    mut chunks: mpsc::Receiver<Chunk>,
    credentials: &AppliedCredentials,
) -> Result<(SavedFile, u64, String), String> {
    let mut file = place.create(name)?;
    let (mut size, mut hash) = (0, Sha256::new());
    let mut held: Vec<u8> = Vec::new();
    loop {
        let chunk = chunks.blocking_recv().ok_or("the call is over")??;
        let ends = chunk.is_none();
        held.append(&mut chunk.unwrap_or_default());
        // Chunks that are already available are searched together; data of a slow service is not held back.
        if !ends && held.len() < SECRET_SCAN_BYTES && !chunks.is_empty() {
            continue;
        }
        let clear = credentials.secret_free_prefix(&held, ends).ok_or("it contains a credential")?;
        file.write(&held[..clear])?;
        hash.update(&held[..clear]);
        size += clear as u64;
        held.drain(..clear);
        if ends {
            break;
        }
    }
    Ok((file.commit()?, size, hex(&hash.finalize())))
}
