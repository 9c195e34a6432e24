//! Media types.

/// Returns a media type in lower case, without parameters: `text/html` for `Text/HTML; charset=utf-8`.
pub fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type, as [`essence`] returns it, is XML or based on XML.
pub fn is_xml(essence: &str) -> bool {
    essence == "application/xml" || essence == "text/xml" || essence.ends_with("+xml")
}

/// Whether a media type is JSON or based on JSON.
pub fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == "application/json" || essence == "text/json" || essence.ends_with("+json")
}

/// Whether a media type without parameters is a sequence of JSON texts.
pub fn is_json_lines(essence: &str) -> bool {
    const NAMES: [&str; 6] = ["x-ndjson", "ndjson", "jsonl", "x-jsonlines", "jsonlines", "json-seq"];
    let name = essence.strip_prefix("application/");
    name.is_some_and(|name| NAMES.contains(&name) || name.ends_with("+json-seq"))
}

/// File extensions, their media types, and the magic bytes at the start of such files, if any. Those after `RIFF` and
/// a length are at offset 8.
const TYPES: [(&str, &str, &[&[u8]]); 21] = [
    ("png", "image/png", &[b"\x89PNG\r\n\x1a\n"]),
    ("jpg jpeg", "image/jpeg", &[b"\xff\xd8\xff"]),
    ("gif", "image/gif", &[b"GIF87a", b"GIF89a"]),
    ("svg", "image/svg+xml", &[]),
    ("webp", "image/webp", &[b"RIFF", b"WEBP"]),
    ("tif tiff", "image/tiff", &[]),
    ("mp3", "audio/mpeg", &[b"ID3"]),
    ("wav", "audio/wav", &[b"RIFF", b"WAVE"]),
    ("ogg", "audio/ogg", &[b"OggS"]),
    ("mp4", "video/mp4", &[]),
    ("mov", "video/quicktime", &[]),
    ("pdf", "application/pdf", &[b"%PDF-"]),
    ("zip", "application/zip", &[b"PK\x03\x04"]),
    ("txt", "text/plain", &[]),
    ("csv", "text/csv", &[]),
    ("html htm", "text/html", &[]),
    ("md", "text/markdown", &[]),
    ("json", "application/json", &[]),
    ("xml", "application/xml", &[]),
    ("yaml yml", "application/yaml", &[]),
    ("gz", "application/gzip", &[b"\x1f\x8b"]),
];

/// Returns the media type of a file that starts with these bytes, if they identify it.
pub fn of_content(head: &[u8]) -> Option<&'static str> {
    let matches = |magic: &[&[u8]]| match magic {
        [b"RIFF", form] => head.starts_with(b"RIFF") && head.get(8..12) == Some(*form),
        magic => magic.iter().any(|start| head.starts_with(start)),
    };
    TYPES.iter().find(|(.., magic)| matches(magic)).map(|(_, media_type, _)| *media_type)
}

/// Returns the media type of files with this extension.
pub fn of_extension(ending: &str) -> Option<&'static str> {
    let entry = TYPES.iter().find(|(endings, ..)| endings.split(' ').any(|other| other == ending));
    entry.map(|(_, media_type, _)| *media_type)
}

/// Returns the file extension of a media type.
pub fn extension_of(essence: &str) -> Option<&'static str> {
    let matches =
        |media_type: &str| media_type == essence || (media_type == "application/json" && is_json(essence));
    let (endings, ..) = TYPES.iter().find(|(_, media_type, _)| matches(media_type))?;
    endings.split(' ').next()
}
