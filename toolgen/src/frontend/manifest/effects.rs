//! The effects of a tool: those of its kind, and those that its attributes set.

use serde_json::Value;
use toolgen_core::Text;
use toolgen_core::internal::hosts::is_host;
use toolgen_core::spec::{Effects, Files, Network};

use super::attributes::Attributes;
use super::codes;
use super::context::Context;
use super::node::Node;
use crate::selector::suggestion;

/// The help for a word that is meant to switch the network on or off. YAML reads some of them as strings.
const SWITCHED: &str = "write `none`, `any`, or hosts such as `api.example.com`";

/// Whether an attribute equals the effect that the kind determines: it is harmless, and reports a change of what the
/// tool calls.
fn is_so(node: &Node<'_>, key: &str, of_kind: &Effects) -> bool {
    let Effects { read_only, destructive, idempotent, open_world, network, files, spawns } = of_kind;
    let known = match key {
        "read_only" => Value::from(*read_only),
        "destructive" => Value::from(*destructive),
        "idempotent" => Value::from(*idempotent),
        "open_world" => Value::from(*open_world),
        "spawns" => Value::from(*spawns),
        "pure" => Value::from(*of_kind == Effects::NONE),
        "network" if *network == Network::None => Value::from("none"),
        "network" if *network == Network::Any => Value::from("any"),
        "files" => Value::from(match files {
            Files::None => "none",
            Files::Read => "read",
            Files::Write => "write",
        }),
        _ => return false,
    };
    *node.value == known
}

impl<'a> Context<'a> {
    /// Returns the effects of a tool whose kind has these. `fixed` are the effects that the kind determines, each
    /// with the reason; a tool must not contradict them.
    pub(super) fn effects(
        &mut self,
        attributes: &Attributes<'a>,
        of_kind: Effects,
        fixed: &[(&str, &str)],
    ) -> Effects {
        // Shared attributes are meant for the tools that they fit.
        let fits = |key: &str| fixed.iter().all(|(fixed, _)| *fixed != key);
        let holder = |key: &str| if fits(key) { attributes.of(key) } else { &attributes.own };
        for (key, reason) in fixed {
            if let Some(node) = attributes.own.get(key).filter(|node| !is_so(node, key, &of_kind)) {
                let message = format!("`{key}` cannot be set: {reason}");
                self.report(codes::EFFECTS, &node.pointer, message, "leave it out");
            }
        }
        let mut flag = |key: &str| self.flag(holder(key), key);
        let stated_pure = flag("pure") == Some(true) && fits("pure");
        let [read_only, destructive, idempotent, open_world, spawns] =
            ["read_only", "destructive", "idempotent", "open_world", "spawns"].map(&mut flag);
        let files = self.files(holder("files"));
        let network = self.network(holder("network"));
        if read_only == Some(true) && destructive == Some(true) {
            let message = "a tool that is `read_only` cannot be `destructive`: it changes nothing";
            let at = holder("destructive").pointer.child("destructive");
            self.report(codes::EFFECTS, &at, message, "leave one of the two out");
        }
        let stated = [
            ("read_only", read_only == Some(false)),
            ("destructive", destructive == Some(true)),
            ("idempotent", idempotent == Some(false)),
            ("open_world", open_world == Some(true)),
            ("spawns", spawns == Some(true)),
            ("files", files.is_some_and(|files| files != Files::None)),
            ("network", network.as_ref().is_some_and(|network| *network != Network::None)),
        ];
        let stated = stated.into_iter().filter(|(_, has_effect)| stated_pure && *has_effect);
        if self.is_pure(attributes, stated_pure, stated.map(|(key, _)| key)) {
            return Effects::NONE;
        }
        let mut effects = of_kind;
        if let Some(on) = read_only {
            effects.read_only = on;
            if on {
                // Nothing is changed, so nothing is destroyed, even if the call is repeated.
                (effects.destructive, effects.idempotent) = (false, true);
                if effects.files == Files::Write {
                    effects.files = Files::Read;
                }
            }
        }
        effects.destructive = destructive.unwrap_or(effects.destructive);
        effects.idempotent = idempotent.unwrap_or(effects.idempotent);
        if let Some(on) = open_world {
            effects.open_world = on;
            if !on && fits("network") {
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

    /// Whether a tool declared `pure` is pure, despite these attributes that set an effect: the attributes of the
    /// tool take precedence over those that all tools of its file share.
    fn is_pure<'k>(
        &mut self,
        attributes: &Attributes<'a>,
        stated: bool,
        effects: impl Iterator<Item = &'k str>,
    ) -> bool {
        let is_own = |key: &str| attributes.own.get(key).is_some();
        let mut pure = stated;
        for key in effects {
            pure &= is_own("pure");
            if is_own(key) == is_own("pure") {
                let message = format!("a tool that is `pure` has no effects, but `{key}` sets one");
                let at = attributes.of(key).pointer.child(key);
                self.report(codes::EFFECTS, &at, message, "leave one of the two out");
            }
        }
        pure
    }

    pub(super) fn files(&mut self, holder: &Node<'a>) -> Option<Files> {
        let choices = [("none", Files::None), ("read", Files::Read), ("write", Files::Write)];
        self.choice(holder, "files", &choices)
    }

    /// Reads `network: none`, `network: any` or hosts.
    pub(super) fn network(&mut self, holder: &Node<'a>) -> Option<Network> {
        let member = holder.get("network")?;
        if member.value.is_boolean() {
            self.wrong_kind(&member, "`none`, `any` or hosts", SWITCHED);
            return None;
        }
        let hosts = self.texts(holder, "network")?;
        match hosts.as_slice() {
            [("none", _)] | [] => return Some(Network::None),
            [("any", _)] => return Some(Network::Any),
            _ => {}
        }
        if let (Value::String(word), [(host, at)]) = (member.value, hosts.as_slice())
            && is_host(host)
            && is_bare(word)
        {
            let help = match suggestion(word, ["none", "any", "nothing"].into_iter()).as_deref() {
                Some("any") => "did you mean `any`?".to_owned(),
                Some(_) => "did you mean `none`?".to_owned(),
                None => format!("{SWITCHED}; write a host of this name as `[{word}]`"),
            };
            self.report(codes::EFFECTS, at, format!("`{word}` is neither `none` nor `any`"), help);
            return None;
        }
        for (host, at) in hosts.iter().filter(|(host, _)| !is_host(host)) {
            let help = if host.contains(['/', ' ', '{', '@']) || host.is_empty() {
                "write `api.example.com`, `api.example.com:8443`, `none` or `any`"
            } else {
                SWITCHED
            };
            self.report(codes::EFFECTS, at, format!("`{host}` is not a host"), help);
        }
        Some(Network::Hosts(hosts.into_iter().map(|(host, _)| Text::from(host.to_owned())).collect()))
    }

    /// Rejects hosts as the network of a program: it can only be enforced completely or not at all.
    pub(super) fn check_network(&mut self, attributes: &Attributes<'a>, effects: &Effects) {
        let Network::Hosts(hosts) = &effects.network else { return };
        let Some(member) = attributes.of("network").get("network") else { return };
        // A value that is not a host has been reported.
        if hosts.iter().all(|host| is_host(host)) {
            let message =
                "network access of a program cannot be limited to some hosts: it is complete, or none";
            let help = "write `network: any` or `network: none`; hosts are for requests (`http`)";
            self.report(codes::EFFECTS, &member.pointer, message, help);
        }
    }
}

/// Whether a string that may be a host is a plain word, as `none` and `any` are.
fn is_bare(text: &str) -> bool {
    text != "localhost" && !text.contains(['.', ':'])
}
