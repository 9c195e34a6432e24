//! Media types.

/// Returns a media type in lower case, without parameters: `text/html` of `Text/HTML; charset=utf-8`.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type, as [`essence`] returns it, is XML or based on it.
#[cfg(feature = "http")]
pub(crate) fn is_xml(essence: &str) -> bool {
    essence == "application/xml" || essence == "text/xml" || essence.ends_with("+xml")
}
