//! Fetches the parts of a document from the hosts that a program allows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgen_runtime::engine::http::{Fetched, HttpEngine};

use crate::frontend::openapi::parts_of;
use crate::problem::{Problems, codes};
use crate::source::{Bundle, Document, Pointer, Source};

/// Maximum number of parts of a document.
const MAX_PARTS: usize = 1_000;

/// Fetches the parts of a document, recursively. A part that cannot be fetched is a problem.
pub(super) async fn fetch_parts(
    document: &Fetched,
    engine: &HttpEngine,
    hosts: &[String],
) -> (Bundle, Problems) {
    let (mut bundle, mut problems) = (Bundle::default(), Problems::new());
    let mut requested = BTreeSet::from([document.url.clone()]);
    let mut pending = vec![(document.url.clone(), document.bytes.clone())];
    let secure = document.url.starts_with("https:");
    while let Some((url, bytes)) = pending.pop() {
        let parsed = Document::from_bytes(Path::new(&url), bytes.clone(), &mut Problems::new());
        if let Err(error) = bundle.add(url.clone(), bytes) {
            report(&mut problems, &url, &error);
            break;
        }
        let parts = parsed.map(|document| parts_of(&document.root, &url)).unwrap_or_default();
        for part in parts.into_iter().filter(|part| is_allowed(part, secure, hosts)) {
            if requested.len() > MAX_PARTS || !requested.insert(part.clone()) {
                continue;
            }
            match engine.fetch(part.as_str()).await {
                Ok(fetched) => pending.push((part, fetched.bytes)),
                Err(error) => report(&mut problems, &part, &error.to_string()),
            }
        }
    }
    (bundle, problems)
}

fn report(problems: &mut Problems, url: &str, reason: &str) {
    problems.set_source(Arc::new(Source { path: PathBuf::from(url), ..Source::default() }));
    let message = format!("this part of the document cannot be fetched: {reason}");
    problems.report(
        codes::UNREADABLE_FILE,
        &Pointer::ROOT,
        message,
        "correct the reference, or ask the host",
    );
}

/// Whether a URL is at a host that may serve parts of a document.
fn is_allowed(url: &str, secure: bool, hosts: &[String]) -> bool {
    let lower = url.to_ascii_lowercase();
    let rest = match (lower.strip_prefix("https://"), lower.strip_prefix("http://")) {
        (Some(rest), _) => rest,
        (None, Some(rest)) if !secure => rest,
        _ => return false,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    // A user in a URL can disguise the host.
    !authority.contains('@') && hosts.iter().any(|allowed| allowed == authority || allowed == host)
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn only_named_hosts_are_contacted() {
        let hosts = ["x.test".to_owned(), "localhost:80".to_owned()];
        for (url, secure, expected) in [
            ("https://x.test/a", true, true),
            ("https://X.test:8443/a", true, true),
            ("http://x.test/a", false, true),
            ("http://x.test/a", true, false),
            ("http://localhost:80", false, true),
            ("http://localhost:81", false, false),
            ("https://y.test/x.test", true, false),
            ("https://x.test@y.test/", true, false),
            ("https://y.test\\@x.test/", true, false),
            ("https://x.test.y.test/", true, false),
            ("file:///x.test", false, false),
            ("x.test/a", false, false),
        ] {
            assert_eq!(is_allowed(url, secure, &hosts), expected, "{url}");
        }
    }
}
