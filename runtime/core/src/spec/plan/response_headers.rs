//! The response headers that are shown.

/// Whether a response header may contain a credential: its value is not shown, and no type has a field for it.
/// Pagination tokens are not secret.
#[must_use]
pub fn is_secret_header(name: &str) -> bool {
    const PARTS: [&str; 12] = [
        "authorization",
        "authenticat",
        "cookie",
        "token",
        "secret",
        "apikey",
        "accesskey",
        "password",
        "session",
        "credential",
        "csrf",
        "xsrf",
    ];
    let letters = letters(name);
    let is_page_token =
        ["pagetoken", "continuationtoken", "nexttoken"].iter().any(|suffix| letters.ends_with(suffix));
    PARTS.iter().any(|part| letters.contains(part)) && !is_page_token
}

/// Whether a header that a document declares describes the requested data rather than the request, the connection or
/// the representation. Rate limits are in the details of each result.
#[must_use]
pub fn is_informative_header(name: &str) -> bool {
    const PARTS: [&str; 10] = [
        "idempotency",
        "ratelimit",
        "retryafter",
        "requestid",
        "correlation",
        "trace",
        "accesscontrol",
        "security",
        "cachecontrol",
        "transferencoding",
    ];
    const NAMES: [&str; 14] = [
        "age",
        "connection",
        "date",
        "deprecation",
        "expires",
        "link",
        "pragma",
        "server",
        "sunset",
        "vary",
        "via",
        "warning",
        "xcache",
        "xpoweredby",
    ];
    let letters = letters(name);
    let describes_content = letters.starts_with("content") && letters != "contentlocation";
    !is_secret_header(name)
        && !describes_content
        && !NAMES.contains(&letters.as_str())
        && !PARTS.iter().any(|part| letters.contains(part))
}

fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credential_headers_are_secret_and_useful_ones_shown() {
        for name in
            ["Set-Cookie", "Authorization", "X-Auth-Token", "WWW-Authenticate", "x-api-key", "X-CSRF-Token"]
        {
            assert!(is_secret_header(name) && !is_informative_header(name), "{name}");
        }
        for name in [
            "Location",
            "ETag",
            "X-Total-Count",
            "Operation-Location",
            "X-Next-Page-Token",
            "Content-Location",
        ] {
            assert!(is_informative_header(name) && !is_secret_header(name), "{name}");
        }
        for name in [
            "Content-Type",
            "X-RateLimit-Remaining",
            "x-ms-request-id",
            "Date",
            "Idempotency-Key",
            "Cache-Control",
        ] {
            assert!(!is_informative_header(name) && !is_secret_header(name), "{name}");
        }
    }
}
