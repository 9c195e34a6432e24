//! Properties that a composed tool derives from the tools that it calls.

use toolgen_core::spec::{Effects, Files, Network};
use toolgen_core::{Text, ToolSpec};

/// The reason why a composed tool cannot set its effects.
const REASON: &str = "the effects of a composed tool are those of the tools that it calls";

/// The effects that a composed tool cannot change.
pub(in super::super) const FIXED: [(&str, &str); 8] = [
    ("pure", REASON),
    ("read_only", REASON),
    ("destructive", REASON),
    ("idempotent", REASON),
    ("open_world", REASON),
    ("files", REASON),
    ("network", REASON),
    ("spawns", REASON),
];

/// Returns the combined effects of calls of all these tools.
pub(super) fn effects(callees: &[&ToolSpec]) -> Effects {
    callees.iter().fold(Effects::NONE, |combined, spec| {
        let Effects { read_only, destructive, idempotent, open_world, network, files, spawns } =
            &spec.effects;
        Effects {
            read_only: combined.read_only && *read_only,
            destructive: combined.destructive || *destructive,
            idempotent: combined.idempotent && *idempotent,
            open_world: combined.open_world || *open_world,
            network: merge_networks(&combined.network, network),
            files: match (combined.files, files) {
                (Files::Write, _) | (_, Files::Write) => Files::Write,
                (Files::Read, _) | (_, Files::Read) => Files::Read,
                (Files::None, Files::None) => Files::None,
            },
            spawns: combined.spawns || *spawns,
        }
    })
}

fn merge_networks(left: &Network, right: &Network) -> Network {
    match (left, right) {
        (Network::Any, _) | (_, Network::Any) => Network::Any,
        (Network::None, other) | (other, Network::None) => other.clone(),
        (Network::Hosts(left), Network::Hosts(right)) => Network::Hosts(merge(left.iter().chain(right))),
    }
}

fn merge<'t>(texts: impl Iterator<Item = &'t Text>) -> toolgen_core::List<Text> {
    let mut texts: Vec<Text> = texts.cloned().collect();
    texts.sort();
    texts.dedup();
    texts.into()
}

/// Adds the scopes that calls of these tools need, unless none of them declares any.
pub(super) fn scopes(spec: &mut ToolSpec, callees: &[&ToolSpec]) {
    if callees.iter().any(|callee| !callee.scopes.is_empty()) {
        let required = callees.iter().flat_map(|callee| callee.required_scopes());
        spec.scopes = merge(spec.scopes.iter().chain(required));
    }
}
