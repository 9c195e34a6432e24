//! Determines the effects of a tool from its kind and its attributes.

use serde_json::Value;
use toolgen_core::Text;
use toolgen_core::internal::hosts::is_host;
use toolgen_core::spec::{Effects, Files, Network};

use super::attributes::Attributes;
use super::codes;
use super::context::Context;
use super::node::Node;
use crate::selector::suggestion;

/// The help for a boolean as the network. YAML reads some booleans, such as `off`, as strings.
const NETWORK_HELP: &str = "write `none`, `any`, or hosts such as `api.example.com`";

/// Whether an attribute equals the effect that the kind determines. Such an attribute is harmless, and reveals changes
/// in the effects of the called tools.
fn matches_kind(node: &Node<'_>, key: &str, kind_effects: &Effects) -> bool {
    let Effects { read_only, destructive, idempotent, open_world, network, files, spawns } = kind_effects;
    let value = match key {
        "read_only" => Value::from(*read_only),
        "destructive" => Value::from(*destructive),
        "idempotent" => Value::from(*idempotent),
        "open_world" => Value::from(*open_world),
        "spawns" => Value::from(*spawns),
        "pure" => Value::from(*kind_effects == Effects::NONE),
        "network" if *network == Network::None => Value::from("none"),
        "network" if *network == Network::Any => Value::from("any"),
        "files" => Value::from(match files {
            Files::None => "none",
            Files::Read => "read",
            Files::Write => "write",
        }),
        _ => return false,
    };
    *node.value == value
}

impl<'a> Context<'a> {
    /// Returns the effects of a tool, given the default effects of its kind. `fixed` are the effects that the kind
    /// determines, each with the reason; a tool must not contradict them.
    pub(super) fn effects(
        &mut self,
        attributes: &Attributes<'a>,
        kind_effects: Effects,
        fixed: &[(&str, &str)],
    ) -> Effects {
        // The defaults do not apply to effects that the kind determines.
        let is_settable = |key: &str| fixed.iter().all(|(fixed, _)| *fixed != key);
        let object_with =
            |key: &str| if is_settable(key) { attributes.object_with(key) } else { &attributes.own };
        for (key, reason) in fixed {
            if let Some(node) = attributes.own.get(key).filter(|node| !matches_kind(node, key, &kind_effects))
            {
                let message = format!("`{key}` cannot be set: {reason}");
                self.report(codes::EFFECTS, &node.pointer, message, "leave it out");
            }
        }
        let mut flag = |key: &str| self.flag(object_with(key), key);
        let is_pure = flag("pure") == Some(true) && is_settable("pure");
        let [read_only, destructive, idempotent, open_world, spawns] =
            ["read_only", "destructive", "idempotent", "open_world", "spawns"].map(&mut flag);
        let files = self.files(object_with("files"));
        let network = self.network(object_with("network"));
        if read_only == Some(true) && destructive == Some(true) {
            let message = "a tool that is `read_only` cannot be `destructive`: it changes nothing";
            let pointer = object_with("destructive").pointer.child("destructive");
            self.report(codes::EFFECTS, &pointer, message, "leave one of the two out");
        }
        let attributes_with_effect = [
            ("read_only", read_only == Some(false)),
            ("destructive", destructive == Some(true)),
            ("idempotent", idempotent == Some(false)),
            ("open_world", open_world == Some(true)),
            ("spawns", spawns == Some(true)),
            ("files", files.is_some_and(|files| files != Files::None)),
            ("network", network.as_ref().is_some_and(|network| *network != Network::None)),
        ];
        let attributes_with_effect =
            attributes_with_effect.into_iter().filter(|(_, has_effect)| is_pure && *has_effect);
        if self.is_pure(attributes, is_pure, attributes_with_effect.map(|(key, _)| key)) {
            return Effects::NONE;
        }
        let mut effects = kind_effects;
        if let Some(flag) = read_only {
            effects.read_only = flag;
            if flag {
                // A call that changes nothing destroys nothing, even if it is repeated.
                (effects.destructive, effects.idempotent) = (false, true);
                if effects.files == Files::Write {
                    effects.files = Files::Read;
                }
            }
        }
        effects.destructive = destructive.unwrap_or(effects.destructive);
        effects.idempotent = idempotent.unwrap_or(effects.idempotent);
        if let Some(flag) = open_world {
            effects.open_world = flag;
            if !flag && is_settable("network") {
                effects.network = Network::None;
            }
        } else if network == Some(Network::None) {
            effects.open_world = false;
        }
        effects.spawns = spawns.unwrap_or(effects.spawns);
        effects.files = files.unwrap_or(effects.files);
        effects.network = network.unwrap_or(effects.network);
        effects
    }

    /// Whether a tool is pure although the listed attributes set effects: the attributes of the tool take precedence
    /// over the defaults of its file. Reports contradictions.
    fn is_pure<'k>(
        &mut self,
        attributes: &Attributes<'a>,
        is_declared_pure: bool,
        effects: impl Iterator<Item = &'k str>,
    ) -> bool {
        let is_own = |key: &str| attributes.own.get(key).is_some();
        let mut pure = is_declared_pure;
        for key in effects {
            pure &= is_own("pure");
            if is_own(key) == is_own("pure") {
                let message = format!("a tool that is `pure` has no effects, but `{key}` sets one");
                let pointer = attributes.object_with(key).pointer.child(key);
                self.report(codes::EFFECTS, &pointer, message, "leave one of the two out");
            }
        }
        pure
    }

    pub(super) fn files(&mut self, node: &Node<'a>) -> Option<Files> {
        let choices = [("none", Files::None), ("read", Files::Read), ("write", Files::Write)];
        self.choice(node, "files", &choices)
    }

    /// Reads `network: none`, `network: any` or hosts.
    pub(super) fn network(&mut self, node: &Node<'a>) -> Option<Network> {
        let member = node.get("network")?;
        if member.value.is_boolean() {
            self.report_wrong_type(&member, "`none`, `any` or hosts", NETWORK_HELP);
            return None;
        }
        let hosts = self.texts(node, "network")?;
        match hosts.as_slice() {
            [("none", _)] | [] => return Some(Network::None),
            [("any", _)] => return Some(Network::Any),
            _ => {}
        }
        if let (Value::String(word), [(host, pointer)]) = (member.value, hosts.as_slice())
            && is_host(host)
            && is_plain_word(word)
        {
            let help = match suggestion(word, ["none", "any", "nothing"].into_iter()).as_deref() {
                Some("any") => "did you mean `any`?".to_owned(),
                Some(_) => "did you mean `none`?".to_owned(),
                None => format!("{NETWORK_HELP}; write a host of this name as `[{word}]`"),
            };
            self.report(codes::EFFECTS, pointer, format!("`{word}` is neither `none` nor `any`"), help);
            return None;
        }
        for (host, pointer) in hosts.iter().filter(|(host, _)| !is_host(host)) {
            let help = if host.contains(['/', ' ', '{', '@']) || host.is_empty() {
                "write `api.example.com`, `api.example.com:8443`, `none` or `any`"
            } else {
                NETWORK_HELP
            };
            self.report(codes::EFFECTS, pointer, format!("`{host}` is not a host"), help);
        }
        Some(Network::Hosts(hosts.into_iter().map(|(host, _)| Text::from(host.to_owned())).collect()))
    }

    /// Rejects hosts as the network of a command, whose access can only be allowed or denied completely.
    pub(super) fn check_network(&mut self, attributes: &Attributes<'a>, effects: &Effects) {
        let Network::Hosts(hosts) = &effects.network else { return };
        let Some(member) = attributes.object_with("network").get("network") else { return };
        // A value that is not a host has been reported.
        if hosts.iter().all(|host| is_host(host)) {
            let message =
                "network access of a program cannot be limited to some hosts: it is complete, or none";
            let help = "write `network: any` or `network: none`; hosts are for requests (`http`)";
            self.report(codes::EFFECTS, &member.pointer, message, help);
        }
    }
}

/// Whether a possible host is a plain word, as `none` and `any` are.
fn is_plain_word(text: &str) -> bool {
    text != "localhost" && !text.contains(['.', ':'])
}
