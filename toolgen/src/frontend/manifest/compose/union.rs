//! Properties that a composed tool derives from the tools that it calls.

use toolgen_core::spec::{Effects, Files, Network};
use toolgen_core::{Text, ToolSpec};

/// The reason why a composed tool cannot set its effects.
const WHY: &str = "the effects of a composed tool are those of the tools that it calls";

/// The effects that a composed tool cannot change.
pub(in super::super) const FIXED: [(&str, &str); 8] = [
    ("pure", WHY),
    ("read_only", WHY),
    ("destructive", WHY),
    ("idempotent", WHY),
    ("open_world", WHY),
    ("files", WHY),
    ("network", WHY),
    ("spawns", WHY),
];

/// Returns the combined effects of calls of all these tools.
pub(super) fn effects(called: &[&ToolSpec]) -> Effects {
    called.iter().fold(Effects::NONE, |all, spec| {
        let Effects { read_only, destructive, idempotent, open_world, network, files, spawns } =
            &spec.effects;
        Effects {
            read_only: all.read_only && *read_only,
            destructive: all.destructive || *destructive,
            idempotent: all.idempotent && *idempotent,
            open_world: all.open_world || *open_world,
            network: hosts(&all.network, network),
            files: match (all.files, files) {
                (Files::Write, _) | (_, Files::Write) => Files::Write,
                (Files::Read, _) | (_, Files::Read) => Files::Read,
                (Files::None, Files::None) => Files::None,
            },
            spawns: all.spawns || *spawns,
        }
    })
}

fn hosts(left: &Network, right: &Network) -> Network {
    match (left, right) {
        (Network::Any, _) | (_, Network::Any) => Network::Any,
        (Network::None, other) | (other, Network::None) => other.clone(),
        (Network::Hosts(left), Network::Hosts(right)) => Network::Hosts(united(left.iter().chain(right))),
    }
}

fn united<'t>(texts: impl Iterator<Item = &'t Text>) -> toolgen_core::List<Text> {
    let mut texts: Vec<Text> = texts.cloned().collect();
    texts.sort();
    texts.dedup();
    texts.into()
}

/// Adds the scopes that calls of these tools need, unless none of them declares any.
pub(super) fn scopes(spec: &mut ToolSpec, called: &[&ToolSpec]) {
    if called.iter().any(|callee| !callee.scopes.is_empty()) {
        let needed = called.iter().flat_map(|callee| callee.required_scopes());
        spec.scopes = united(spec.scopes.iter().chain(needed));
    }
}
