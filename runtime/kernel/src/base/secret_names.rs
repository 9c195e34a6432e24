//! Names of fields and variables that contain secrets, in any naming convention.

use std::collections::BTreeSet;

/// The names that are redacted by default, in any of the usual spellings.
const DEFAULT: &[&str] = &[
    "access_key",
    "access_keys",
    "account_key",
    "api_key",
    "api_keys",
    "auth",
    "authorization",
    "bearer",
    "client_secret",
    "connection_string",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "cvc",
    "cvv",
    "dsn",
    "encryption_key",
    "jwt",
    "otp",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "private_key",
    "private_keys",
    "pwd",
    "secret",
    "secrets",
    "sid",
    "sig",
    "signature",
    "signing_key",
    "token",
];

/// The suffixes that redact a whole word, as in `PGPASSWORD` and `JSESSIONID`.
const SUFFIXES: &[&str] = &[
    "apikey",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "sessid",
    "sessionid",
    "token",
];
/// The words that mark a following `token` as a count.
const BEFORE_COUNT: &[&str] = &["max", "min", "num", "per", "progress", "total"];
/// The words that mark a preceding `token` as a count or a description.
const AFTER_COUNT: &[&str] = &["budget", "count", "counts", "length", "limit", "type", "usage"];
/// Variables that every shell sets to a directory.
const DIRECTORY_VARIABLES: [&str; 2] = ["PWD", "OLDPWD"];

/// A set of names that are compared word by word: `api_key` also matches `apiKey`, `X-API-Key` and `MY_APIKEY_2`, but
/// not `monkey_apis`. The default names also match a word with one of them as a suffix, such as `accesstoken`, but
/// not counts, such as `progressToken`.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Each name in lower case, without separators between its words.
    names: BTreeSet<String>,
    /// The length of the longest name, in bytes.
    max_len: usize,
    /// The suffixes of matching words.
    suffixes: BTreeSet<&'static str>,
}

impl Keys {
    /// Returns the names that usually contain secrets.
    pub fn usual() -> Keys {
        let mut keys = Keys::default();
        DEFAULT.iter().for_each(|name| keys.add(name));
        keys.suffixes.extend(SUFFIXES);
        keys
    }

    pub fn add(&mut self, name: &str) {
        let (name, _) = words(name);
        if !name.is_empty() {
            self.max_len = self.max_len.max(name.len());
            self.names.insert(name);
        }
    }

    pub fn remove(&mut self, name: &str) {
        let (name, _) = words(name);
        self.suffixes.remove(name.as_str());
        self.names.remove(&name);
    }

    /// Whether some consecutive words of `key` form one of the names.
    pub fn holds(&self, key: &str) -> bool {
        if DIRECTORY_VARIABLES.contains(&key) {
            return false;
        }
        let (text, bounds) = words(key);
        let word = |index: usize| {
            let end = bounds.get(index + 1).copied().unwrap_or(text.len());
            bounds.get(index).and_then(|start| text.get(*start..end)).unwrap_or_default()
        };
        let is_counted = |index: usize| {
            word(index) == "token"
                && (index.checked_sub(1).is_some_and(|previous| BEFORE_COUNT.contains(&word(previous)))
                    || AFTER_COUNT.contains(&word(index + 1)))
        };
        bounds.iter().enumerate().any(|(index, start)| {
            if is_counted(index) {
                return false;
            }
            let ends = bounds.iter().skip(index + 1).copied().chain([text.len()]);
            ends.take_while(|end| end - start <= self.max_len)
                .any(|end| text.get(*start..end).is_some_and(|word| self.names.contains(word)))
                || self.suffixes.iter().any(|suffix| word(index).ends_with(suffix))
        })
    }
}

/// Returns the passwords that a URL may contain, one for each `@` that may end it: an `@` or a slash in a password
/// should be encoded, but often is not.
pub fn url_passwords(url: &str) -> Vec<&str> {
    let Some((_, rest)) = url.split_once("://") else { return Vec::new() };
    let Some((_, rest)) = rest.split_once(':') else { return Vec::new() };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let rest = &rest[..end];
    // `https://h:8080/@scope` has a port and no password.
    let is_port = |text: &str| {
        let port = text.split_once('/').map(|(port, _)| port);
        port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let candidates = rest.match_indices('@').map(|(at, _)| &rest[..at]);
    candidates.filter(|password| !password.is_empty() && !is_port(password)).collect()
}

/// Returns a name in lower case without separators, and the offset where each word starts.
fn words(name: &str) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(name.len());
    let mut bounds = Vec::new();
    let mut last = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() {
            if starts_word(last, c, chars.peek().copied()) {
                bounds.push(text.len());
            }
            text.extend(c.to_lowercase());
        }
        last = Some(c);
    }
    (text, bounds)
}

/// Whether a letter or digit starts a word: `apiKey2` and `APIKey` have the words `api`, `key` and `2`.
fn starts_word(last: Option<char>, c: char, next: Option<char>) -> bool {
    let Some(last) = last.filter(|last| last.is_alphanumeric()) else { return true };
    let is_camel_case = c.is_uppercase() && (!last.is_uppercase() || next.is_some_and(char::is_lowercase));
    is_camel_case || (c.is_numeric() != last.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_names_are_compared_word_by_word() {
        let mut keys = Keys::usual();
        let hidden = [
            "password",
            "PASSWORD",
            "user_password",
            "userPassword",
            "Password2",
            "api_key",
            "apiKey",
            "apikey",
            "APIKey",
            "X-API-Key",
            "x-auth-token",
            "openai.api.key",
            "AWS_SECRET_ACCESS_KEY",
            "Set-Cookie",
            "clientSecret",
            "privateKeyPem",
            "refresh token",
            "accesstoken",
            "refreshtoken",
            "authtoken",
            "dbpassword",
            "PGPASSWORD",
            "MYSQL_PWD",
            "pwd",
            "pass",
            "passcode",
            "sid",
            "sessionid",
            "JSESSIONID",
            "PHPSESSID",
            "sig",
            "X-Amz-Signature",
            "AccountKey",
            "dsn",
            "ConnectionString",
            "otp",
        ];
        for key in hidden {
            assert!(keys.holds(key), "{key}");
        }
        let displayed = [
            "tokenizer",
            "max_tokens",
            "maxTokens",
            "tokens",
            "progressToken",
            "token_count",
            "token_type",
            "key",
            "author",
            "monkey",
            "passwordless",
            "compass",
            "session_id",
            "side",
            "PWD",
            "OLDPWD",
            "",
            "---",
        ];
        for key in displayed {
            assert!(!keys.holds(key), "{key}");
        }
        keys.remove("API-Key");
        assert!(!keys.holds("apiKey"));
        keys.remove("token");
        assert!(!keys.holds("accesstoken") && keys.holds("token_secret"));
    }

    #[test]
    fn url_passwords_are_found_with_any_characters() {
        assert_eq!(url_passwords("postgres://u:pw@h/d"), ["pw"]);
        assert_eq!(url_passwords("postgres://u:p@ss/w0rd@h/d"), ["p", "p@ss/w0rd"]);
        assert_eq!(url_passwords("redis://:pw@h:6379/0"), ["pw"]);
        for url in ["postgres://h:5432/d", "pw@h", "https://u@h/", "https://h:8080/@scope/x", ""] {
            assert_eq!(url_passwords(url), [""; 0], "{url}");
        }
    }
}
