//! Hosts in effects, limits and settings, and whether a [`Network`] covers them.

use std::net::IpAddr;

use crate::base::frozen::Text;
use crate::spec::Network;

/// A host or, as `*.domain`, all hosts below a domain; with one port or any port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Host<'a> {
    name: &'a str,
    port: Option<&'a str>,
}

impl<'a> Host<'a> {
    fn new(text: &'a str) -> Host<'a> {
        let (name, port) = match text.rsplit_once(':') {
            // An IPv6 address contains colons; it is in brackets if a port follows.
            Some((name, port))
                if is_port(port)
                    && (!name.contains(':') || (name.starts_with('[') && name.ends_with(']'))) =>
            {
                (name, Some(port))
            }
            _ => (text, None),
        };
        // Neither a trailing dot nor the brackets around an IPv6 address change the host.
        let name = name.strip_suffix('.').unwrap_or(name);
        Host { name: name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name), port }
    }

    /// Returns the domain below which all hosts match.
    fn domain(&self) -> Option<&'a str> {
        self.name.strip_prefix('*').filter(|suffix| suffix.starts_with('.') && suffix.len() > 1)
    }

    /// Whether this entry covers every host that `other` covers, ignoring ports.
    fn covers_name(&self, other: &Host<'_>) -> bool {
        if self.name == "*" || self.name.eq_ignore_ascii_case(other.name) {
            return true;
        }
        let Some(domain) = self.domain() else { return self.is_same_address(other) };
        let Some(start) = other.name.len().checked_sub(domain.len()) else { return false };
        start > 0 && other.name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(domain))
    }

    /// Whether both are the same address in two notations.
    fn is_same_address(&self, other: &Host<'_>) -> bool {
        let address =
            |host: &Host<'_>| host.name.contains(':').then(|| host.name.parse::<IpAddr>().ok()).flatten();
        address(self).is_some_and(|left| address(other) == Some(left))
    }

    fn covers(&self, other: &Host<'_>) -> bool {
        (self.port.is_none() || self.port == other.port) && self.covers_name(other)
    }

    /// Returns the hosts that are covered by both.
    fn intersect(&self, other: &Host<'_>) -> Option<String> {
        let name = if self.covers_name(other) {
            other.name
        } else if other.covers_name(self) {
            self.name
        } else {
            return None;
        };
        match (self.port, other.port) {
            (Some(port), Some(other_port)) if port != other_port => None,
            (Some(port), _) | (None, Some(port)) if name.contains(':') => Some(format!("[{name}]:{port}")),
            (Some(port), _) | (None, Some(port)) => Some(format!("{name}:{port}")),
            (None, None) => Some(name.to_owned()),
        }
    }
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words that are meant to enable or disable the network, and are not host names.
const SWITCHES: [&str; 8] = ["no", "off", "false", "none", "yes", "on", "true", "any"];

/// Whether a string can name a host that a tool may contact, with or without a port. A URL cannot, and neither can a
/// word that is meant to disable the network: it would otherwise allow a host.
#[must_use]
pub const fn is_host(text: &str) -> bool {
    let mut index = 0;
    while index < SWITCHES.len() {
        if is_word(text, SWITCHES[index]) {
            return false;
        }
        index += 1;
    }
    let bytes = text.as_bytes();
    index = 0;
    while index < bytes.len() {
        if matches!(bytes[index], b'/' | b' ' | b'{' | b'@') {
            return false;
        }
        index += 1;
    }
    !bytes.is_empty()
}

/// Returns the host of a URL that was written instead of a host: `api.example.com` of `https://api.example.com/v1`.
#[must_use]
pub const fn host_within(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let (mut start, mut end) = (0, 0);
    while end < bytes.len() {
        if bytes[end] == b'/' && (end == 0 || bytes[end - 1] != b':' || start > 0) {
            break;
        }
        // The host starts after the two slashes of a scheme.
        if bytes[end] == b'/' && end + 1 < bytes.len() && bytes[end + 1] == b'/' {
            end += 1;
            start = end + 1;
        }
        end += 1;
    }
    let host = text.split_at(end).0.split_at(start).1;
    if is_host(host) { Some(host) } else { None }
}

/// Describes the error in a setting that should name a host, and the fix. `None` if the setting is valid.
#[must_use]
pub fn wrong(text: &str) -> Option<String> {
    if is_host(text) {
        let pattern = text
            .strip_prefix('*')
            .filter(|pattern| pattern.is_empty() || pattern.starts_with('.'))
            .unwrap_or(text);
        return pattern.contains('*').then(|| {
            format!("`{text}` matches no host: `*` stands for all hosts, or for all below a domain, as in `*.example.com`")
        });
    }
    Some(match host_within(text) {
        // A URL may contain a password, which is not part of its host.
        Some(host) => format!("a host is expected, without scheme, path and user: write `{host}`"),
        None => {
            "a host is expected, such as `db.example.com`, `127.0.0.1:8080` or `*.example.com`".to_owned()
        }
    })
}

/// Whether a string equals this lower-case word, ignoring case.
const fn is_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let mut index = 0;
    while index < text.len() && index < word.len() && text[index].to_ascii_lowercase() == word[index] {
        index += 1;
    }
    index == text.len() && index == word.len()
}

/// Whether an entry of the list covers this port of this host.
pub fn covers(list: &[Text], host: &str, port: u16) -> bool {
    let port = port.to_string();
    let requested = Host { port: Some(&port), ..Host::new(host) };
    list.iter().any(|entry| Host::new(entry).covers(&requested))
}

/// Whether an entry of the list covers some port of this host.
pub fn covers_name(list: &[Text], host: &str) -> bool {
    let requested = Host::new(host);
    list.iter().any(|entry| Host::new(entry).covers_name(&requested))
}

/// Whether the network includes this port of this host.
pub fn allows(network: &Network, host: &str, port: u16) -> bool {
    match network {
        Network::Any => true,
        Network::None => false,
        Network::Hosts(list) => covers(list, host, port),
    }
}

/// Lists the hosts for a message.
pub fn describe_hosts(network: &Network) -> String {
    match network {
        Network::None => String::from("none"),
        Network::Any => String::from("any host"),
        Network::Hosts(hosts) if hosts.is_empty() => String::from("none"),
        Network::Hosts(hosts) => hosts.iter().map(Text::as_str).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the part of `requested` that `granted` does not cover.
pub(crate) fn not_covered(requested: &Network, granted: &Network) -> Network {
    match (requested, granted) {
        (Network::None, _) | (_, Network::Any) => Network::None,
        (Network::Hosts(requested), Network::Hosts(granted)) => {
            let is_covered =
                |requested: &Text| granted.iter().any(|entry| Host::new(entry).covers(&Host::new(requested)));
            from_hosts(requested.iter().filter(|requested| !is_covered(requested)).cloned().collect())
        }
        (Network::Any, Network::Hosts(granted)) if granted.iter().any(|entry| entry == "*") => Network::None,
        (Network::Any, _) => Network::Any,
        (Network::Hosts(requested), Network::None) => from_hosts(requested.to_vec()),
    }
}

/// Returns the hosts that both networks allow.
pub fn both(left: &Network, right: &Network) -> Network {
    match (left, right) {
        (Network::None, _) | (_, Network::None) => Network::None,
        (Network::Any, other) | (other, Network::Any) => other.clone(),
        (Network::Hosts(left), Network::Hosts(right)) => {
            let mut hosts: Vec<String> = Vec::new();
            for left_host in left {
                for right_host in right {
                    if let Some(host) = Host::new(left_host).intersect(&Host::new(right_host))
                        && !hosts.contains(&host)
                    {
                        hosts.push(host);
                    }
                }
            }
            from_hosts(hosts.into_iter().map(Text::from).collect())
        }
    }
}

fn from_hosts(hosts: Vec<Text>) -> Network {
    if hosts.is_empty() { Network::None } else { Network::Hosts(hosts.into()) }
}

#[cfg(test)]
mod tests {
    use super::{host_within, is_host};

    #[test]
    fn hosts_are_distinguished_from_urls_and_flags() {
        for host in ["localhost", "api.example.com", "api.example.com:8443", "[::1]:80", "none.example"] {
            assert!(is_host(host), "{host}");
        }
        for other in ["", "No", "any", "https://api.example.com", "a b", "{host}", "me@host", "host/x"] {
            assert!(!is_host(other), "{other}");
        }
    }

    #[test]
    fn host_is_extracted_from_a_url() {
        for (url, host) in [
            ("https://api.example.com/v1", Some("api.example.com")),
            ("http://localhost:8080", Some("localhost:8080")),
            ("api.example.com/v1", Some("api.example.com")),
            ("wss://a.example//x", Some("a.example")),
            ("/v1", None),
            ("https://", None),
            ("https:/", None),
            ("a b", None),
        ] {
            assert_eq!(host_within(url), host, "{url}");
        }
    }
}
