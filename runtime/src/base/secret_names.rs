//! Names of fields and variables that hold secrets, in any style of writing.

use std::collections::BTreeSet;

/// The names that are hidden by default: words in any of the usual spellings.
const DEFAULT: &[&str] = &[
    "access_key",
    "access_keys",
    "api_key",
    "api_keys",
    "auth",
    "authorization",
    "bearer",
    "client_secret",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "cvc",
    "cvv",
    "encryption_key",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "private_key",
    "private_keys",
    "secret",
    "secrets",
    "signing_key",
    "token",
];

/// A set of names that are compared word by word: `api_key` also matches `apiKey`, `X-API-Key` and `MY_APIKEY_2`, but
/// not `monkey_apis`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    /// Each name in lower case, with nothing between its words.
    names: BTreeSet<String>,
    /// The length of the longest name, in bytes.
    longest: usize,
}

impl Keys {
    /// The names that usually hold secrets.
    pub(crate) fn usual() -> Keys {
        let mut known = Keys::default();
        DEFAULT.iter().for_each(|name| known.add(name));
        known
    }

    pub(crate) fn add(&mut self, name: &str) {
        let (name, _) = words(name);
        if !name.is_empty() {
            self.longest = self.longest.max(name.len());
            self.names.insert(name);
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.names.remove(&words(name).0);
    }

    /// Returns whether some consecutive words of `key` are one of the names.
    pub(crate) fn holds(&self, key: &str) -> bool {
        let (text, bounds) = words(key);
        bounds.iter().enumerate().any(|(index, start)| {
            let ends = bounds.iter().skip(index + 1).copied().chain([text.len()]);
            ends.take_while(|end| end - start <= self.longest)
                .any(|end| text.get(*start..end).is_some_and(|word| self.names.contains(word)))
        })
    }
}

/// Returns a name in lower case with nothing between its words, and where each word starts.
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

/// Returns whether a letter or digit starts a word: `apiKey2` and `APIKey` have the words `api`, `key` and `2`.
fn starts_word(last: Option<char>, c: char, next: Option<char>) -> bool {
    let Some(last) = last.filter(|last| last.is_alphanumeric()) else { return true };
    let camel = c.is_uppercase() && (!last.is_uppercase() || next.is_some_and(char::is_lowercase));
    camel || (c.is_numeric() != last.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_word_by_word() {
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
        ];
        for key in hidden {
            assert!(keys.holds(key), "{key}");
        }
        for key in
            ["tokenizer", "max_tokens", "key", "author", "monkey", "passwordless", "compass", "", "---"]
        {
            assert!(!keys.holds(key), "{key}");
        }
        keys.remove("API-Key");
        assert!(!keys.holds("apiKey"));
    }
}
