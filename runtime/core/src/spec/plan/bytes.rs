//! Media types of bytes.

/// Whether a media type without parameters is never that of a text: `image/png`, `application/pdf`. For
/// others, such as `application/jwt` or `application/octet-stream`, the schema or the bytes decide.
#[must_use]
pub fn is_surely_bytes(essence: &str) -> bool {
    const OTHERS: [&str; 15] = [
        "gzip",
        "java-archive",
        "msword",
        "pdf",
        "protobuf",
        "vnd.google.protobuf",
        "wasm",
        "x-7z-compressed",
        "x-bzip2",
        "x-gzip",
        "x-protobuf",
        "x-tar",
        "x-zip-compressed",
        "zip",
        "zstd",
    ];
    let (main, sub) = essence.split_once('/').unwrap_or((essence, ""));
    match main {
        "audio" | "video" | "font" | "image" => !sub.ends_with("+xml"),
        "application" => {
            OTHERS.contains(&sub) || sub.starts_with("vnd.openxmlformats-") || sub.starts_with("vnd.ms-")
        }
        _ => false,
    }
}
