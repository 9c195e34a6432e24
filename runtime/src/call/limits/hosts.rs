//! Hosts as policies compare them.

use crate::base::frozen::Text;
use crate::spec::Network;

/// A host or, as `*.domain`, all hosts below a domain; with a port or for any.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Host<'a> {
    name: &'a str,
    port: Option<&'a str>,
}

impl<'a> Host<'a> {
    fn new(text: &'a str) -> Host<'a> {
        let (name, port) = match text.rsplit_once(':') {
            // An IPv6 address is full of colons; before a port it stands in brackets.
            Some((name, port))
                if is_port(port)
                    && (!name.contains(':') || (name.starts_with('[') && name.ends_with(']'))) =>
            {
                (name, Some(port))
            }
            _ => (text, None),
        };
        // The dot of the root changes nothing about which host it is.
        Host { name: name.strip_suffix('.').unwrap_or(name), port }
    }

    /// The domain below which everything is meant.
    fn domain(&self) -> Option<&'a str> {
        self.name.strip_prefix('*').filter(|rest| rest.starts_with('.') && rest.len() > 1)
    }

    /// Everything `other` stands for, this stands for too, ports aside.
    fn covers_name(&self, other: &Host<'_>) -> bool {
        if self.name == "*" || self.name.eq_ignore_ascii_case(other.name) {
            return true;
        }
        let Some(domain) = self.domain() else { return false };
        let Some(start) = other.name.len().checked_sub(domain.len()) else { return false };
        start > 0 && other.name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(domain))
    }

    fn covers(&self, other: &Host<'_>) -> bool {
        (self.port.is_none() || self.port == other.port) && self.covers_name(other)
    }

    /// What both stand for.
    fn and(&self, other: &Host<'_>) -> Option<String> {
        let name = if self.covers_name(other) {
            other.name
        } else if other.covers_name(self) {
            self.name
        } else {
            return None;
        };
        match (self.port, other.port) {
            (Some(port), Some(same)) if port != same => None,
            (Some(port), _) | (None, Some(port)) => Some(format!("{name}:{port}")),
            (None, None) => Some(name.to_owned()),
        }
    }
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The part of `asked` that `granted` does not cover.
pub(super) fn beyond(asked: &Network, granted: &Network) -> Network {
    match (asked, granted) {
        (Network::None, _) | (_, Network::Any) => Network::None,
        (Network::Hosts(asked), Network::Hosts(granted)) => {
            let covered = |asked: &Text| granted.iter().any(|own| Host::new(own).covers(&Host::new(asked)));
            listed(asked.iter().filter(|asked| !covered(asked)).cloned().collect())
        }
        (Network::Any, Network::Hosts(granted)) if granted.iter().any(|own| own == "*") => Network::None,
        (Network::Any, _) => Network::Any,
        (Network::Hosts(asked), Network::None) => listed(asked.to_vec()),
    }
}

/// What both allow.
pub(super) fn both(left: &Network, right: &Network) -> Network {
    match (left, right) {
        (Network::None, _) | (_, Network::None) => Network::None,
        (Network::Any, other) | (other, Network::Any) => other.clone(),
        (Network::Hosts(left), Network::Hosts(right)) => {
            let mut hosts: Vec<String> = Vec::new();
            for one in left {
                for other in right {
                    if let Some(host) = Host::new(one).and(&Host::new(other))
                        && !hosts.contains(&host)
                    {
                        hosts.push(host);
                    }
                }
            }
            listed(hosts.into_iter().map(Text::from).collect())
        }
    }
}

fn listed(hosts: Vec<Text>) -> Network {
    if hosts.is_empty() { Network::None } else { Network::Hosts(hosts.into()) }
}
