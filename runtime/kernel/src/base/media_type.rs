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

/// File extensions, their media types, and the leading bytes of such files, if these identify the type. After `RIFF`
/// and a length, the bytes follow at offset 8.
const KINDS: [(&str, &str, &[&[u8]]); 21] = [
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

/// Returns the media type of a file with this beginning, if the beginning identifies it.
pub fn of_content(head: &[u8]) -> Option<&'static str> {
    let is = |starts: &[&[u8]]| match starts {
        [b"RIFF", form] => head.starts_with(b"RIFF") && head.get(8..12) == Some(*form),
        starts => starts.iter().any(|start| head.starts_with(start)),
    };
    KINDS.iter().find(|(.., starts)| is(starts)).map(|(_, kind, _)| *kind)
}

/// Returns the media type of files with this extension.
pub fn of_ending(ending: &str) -> Option<&'static str> {
    let known = KINDS.iter().find(|(endings, ..)| endings.split(' ').any(|one| one == ending));
    known.map(|(_, kind, _)| *kind)
}

/// Returns the file extension of a media type.
pub fn ending_of(essence: &str) -> Option<&'static str> {
    let kind = |known: &str| known == essence || (known == "application/json" && is_json(essence));
    let (endings, ..) = KINDS.iter().find(|(_, known, _)| kind(known))?;
    endings.split(' ').next()
}
