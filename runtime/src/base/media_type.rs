//! Media types.

/// Returns a media type in lower case, without parameters: `text/html` of `Text/HTML; charset=utf-8`.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
