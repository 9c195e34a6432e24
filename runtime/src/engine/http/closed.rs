//! Hosts of tools to which no request goes.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::Url;

use super::engine::HttpEngine;
use super::url;
use crate::base::frozen::Text;
use crate::spec::Network;
use crate::spec::plan::Tool;

/// Tools of one host that an engine does not reach. Its `Display` says why, and how the host is opened, for the
/// engineer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClosedHost {
    /// The tools whose requests go there.
    pub tools: Vec<Text>,
    /// Why no request goes to the host, and how it is opened.
    pub remedy: String,
}

impl fmt::Display for ClosedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tools.as_slice() {
            [tool] => write!(f, "tool '{tool}': {}", self.remedy),
            tools => write!(f, "{} tools: {}", tools.len(), self.remedy),
        }
    }
}

impl HttpEngine {
    /// Returns the hosts of tools that are written as private addresses or names, such as `127.0.0.1`, `localhost` and
    /// `printer.local`, and that this engine does not open, so that a program can say so at its start instead of failing at
    /// the first call. Nothing is sent, and no name is resolved.
    #[must_use]
    pub fn closed_hosts(&self, tools: impl IntoIterator<Item = impl AsRef<Tool>>) -> Vec<ClosedHost> {
        let mut all: BTreeMap<String, Vec<Text>> = BTreeMap::new();
        for tool in tools {
            let tool = tool.as_ref();
            let base = tool.call.http().and_then(|plan| url::base(plan, &self.options()).ok());
            let Some(url) = base.and_then(|base| Url::parse(&base.prefix).ok()) else { continue };
            if let Err(refused) = self.guard().before_resolving(&url, &Network::Any) {
                all.entry(refused.to_string()).or_default().push(tool.spec.name.to_text());
            }
        }
        all.into_iter().map(|(remedy, tools)| ClosedHost { tools, remedy }).collect()
    }
}
