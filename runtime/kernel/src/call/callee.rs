//! The tools that a call may call in turn.

use serde_core::de::{Deserializer, Error};
use serde_core::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::spec::{Effects, Files, Network};

/// A tool that a call may call, if this is known before the call: a step of a composition, or a tool of a sub-agent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Callee {
    /// The name of the tool.
    pub name: Text,
    /// The effects that the tool declares.
    pub effects: Effects,
}

impl Callee {
    pub(crate) fn new(name: Text, effects: Effects) -> Callee {
        Callee { name, effects }
    }
}

/// `{"name", "effects": {"read_only", "destructive", "idempotent", "open_world", "network", "files", "spawns"}}`, where
/// `network` is `"none"`, `"any"` or an array of hosts, and `files` is `"none"`, `"read"` or `"write"`.
impl Serialize for Callee {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Effects { read_only, destructive, idempotent, open_world, network, files, spawns } =
            &self.effects;
        let network = match network {
            Network::None => json!("none"),
            Network::Hosts(hosts) => hosts.iter().map(Text::as_str).collect(),
            Network::Any => json!("any"),
        };
        let files = match files {
            Files::None => "none",
            Files::Read => "read",
            Files::Write => "write",
        };
        json!({
            "name": self.name,
            "effects": {
                "read_only": read_only, "destructive": destructive, "idempotent": idempotent,
                "open_world": open_world, "network": network, "files": files, "spawns": spawns,
            },
        })
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Callee {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "CalledTool")?;
        let effects: Value = members.take("effects")?;
        let mut effects = Members::read(effects, "Effects").map_err(D::Error::custom)?;
        Ok(Callee {
            name: members.take("name")?,
            effects: Effects {
                read_only: effects.take("read_only")?,
                destructive: effects.take("destructive")?,
                idempotent: effects.take("idempotent")?,
                open_world: effects.take("open_world")?,
                network: network(&mut effects)?,
                files: match &*effects.take::<String, D::Error>("files")? {
                    "none" => Files::None,
                    "read" => Files::Read,
                    "write" => Files::Write,
                    other => return Err(effects.unknown("files", other)),
                },
                spawns: effects.take("spawns")?,
            },
        })
    }
}

fn network<E: Error>(members: &mut Members) -> Result<Network, E> {
    match members.take::<Value, E>("network")? {
        Value::String(word) if word == "none" => Ok(Network::None),
        Value::String(word) if word == "any" => Ok(Network::Any),
        Value::Array(hosts) => {
            let hosts: Result<Vec<Text>, _> = hosts.into_iter().map(serde_json::from_value).collect();
            Ok(Network::Hosts(hosts.map_err(E::custom)?.into()))
        }
        other => Err(members.unknown("network", &other.to_string())),
    }
}
