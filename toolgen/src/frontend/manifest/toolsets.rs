//! Toolsets and contexts of a manifest, and other parts that concern the program as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::time::Duration;

use toolgen_core::spec::Network;
use toolgen_core::spec::limits::EffectLimits;
use toolgen_core::spec::toolset::{ContextSpec, Toolset};
use toolgen_core::{Frozen, Text, ToolName};

use super::codes;
use super::compose::near;
use super::context::{Context, nearest};
use super::keys;
use super::node::Node;
use crate::names::with_namespace;
use crate::selector::glob;
use crate::source::Pointer;
use crate::tool::{Program, Tool};

/// A toolset that is being read.
struct Set<'a> {
    name: &'a str,
    node: Node<'a>,
    /// The members; `None` before they are known, and while they are being determined.
    members: Option<Vec<Text>>,
    is_open: bool,
}

/// A tool that toolsets can name.
struct Candidate {
    name: Text,
    /// The name without a namespace, for a tool of this manifest.
    id: Option<String>,
    is_agent: bool,
}

impl<'a> Context<'a> {
    /// Adds the imports to a program that is otherwise complete, and then the toolsets and contexts.
    pub(super) fn lower_toolsets(&mut self, program: &mut Program) {
        self.add_imports(program);
        let imported_contexts = std::mem::take(&mut self.imported.contexts);
        let imported_sets = std::mem::take(&mut self.imported.toolsets);
        let top = self.top();
        for (name, node) in self.object_members(&top, "contexts", "contexts") {
            program.contexts.extend(self.context(name, &node));
        }
        for (context, at) in imported_contexts {
            // The same context, imported by another path.
            if program.contexts.contains(&context) {
                continue;
            }
            let taken = program.contexts.iter().any(|known| known.name == context.name);
            if self.is_new("context", &context.name, taken, &at) {
                program.contexts.push(context);
            }
        }
        program.contexts.sort_by(|left, right| left.name.cmp(&right.name));
        let own = self.object_members(&top, "toolsets", "toolsets");
        let mut kept: Vec<Toolset> = Vec::new();
        for (set, at) in imported_sets {
            if kept.contains(&set) {
                continue;
            }
            let taken = own.iter().any(|(name, _)| *name == &*set.name)
                || kept.iter().any(|one| one.name == set.name);
            if self.is_new("toolset", &set.name, taken, &at) {
                kept.push(set);
            }
        }
        program.toolsets = kept;
        self.toolsets(own, program);
        program.toolsets.sort_by(|left, right| left.name.cmp(&right.name));
    }

    /// Adds the imported documents, without tools whose names are taken. A tool that is imported by several paths,
    /// such as from a document that several imports import, is one tool.
    fn add_imports(&mut self, program: &mut Program) {
        let origin = |tool: &Tool| tool.origin.source.path.display().to_string();
        let mut taken: BTreeMap<String, (String, Tool)> = BTreeMap::new();
        for tool in &program.tools {
            let holder = "the manifest itself".to_owned();
            taken.insert(tool.spec.name.as_str().to_lowercase(), (holder, tool.clone()));
        }
        for (mut part, at) in std::mem::take(&mut self.imported.parts) {
            let mut doubles: BTreeSet<ToolName> = BTreeSet::new();
            for tool in part.program.all_tools() {
                let name = &tool.spec.name;
                let holder = format!("`{}`", origin(tool));
                match taken.get(&name.as_str().to_lowercase()) {
                    Some((_, other)) if other == tool => {
                        doubles.insert(name.clone());
                    }
                    Some((other, _)) => {
                        let message = format!("the tool `{name}` of {holder} has the name of one of {other}");
                        let help = "give the import a `namespace`, or drop the tool with `exclude`";
                        self.report(codes::COLLISION, &at, message, help);
                        doubles.insert(name.clone());
                    }
                    None => drop(taken.insert(name.as_str().to_lowercase(), (holder, tool.clone()))),
                }
            }
            let had_tools = !part.program.is_empty();
            part.program.remove(&doubles);
            if !(had_tools && part.program.is_empty()) {
                program.parts.push(part);
            }
        }
        program.sources.append(&mut self.imported.sources);
        program.sources.sort();
        program.sources.dedup();
    }

    /// Whether the name of an imported item is free; otherwise it is reported.
    fn is_new(&mut self, what: &str, name: &str, taken: bool, at: &Pointer) -> bool {
        if taken {
            let message = format!("there are two {what}s `{name}`, one of them in this import");
            self.report(codes::COLLISION, at, message, "rename one of them");
        }
        !taken
    }

    fn context(&mut self, name: &str, node: &Node<'a>) -> Option<ContextSpec> {
        let errors = self.errors;
        if !self.object(node, &keys::CONTEXT) {
            return None;
        }
        let any = EffectLimits::ANY;
        let limits = EffectLimits {
            read_only: self.flag(node, "read_only").unwrap_or(any.read_only),
            destructive: self.flag(node, "destructive").unwrap_or(any.destructive),
            network: match node.value.get("network").map(serde_json::Value::as_bool) {
                None => any.network,
                Some(Some(true)) => Network::Any,
                Some(Some(false)) => Network::None,
                Some(None) => self.network(node).unwrap_or(Network::None),
            },
            files: self.files(node).unwrap_or(any.files),
            spawns: self.flag(node, "spawns").unwrap_or(any.spawns),
        };
        let work_dir = self.work_dir(node).unwrap_or_default();
        let scopes = self.texts(node, "scopes");
        let scopes =
            scopes.map(|texts| texts.into_iter().map(|(text, _)| Text::from(text.to_owned())).collect());
        let timeout =
            node.get("timeout").and_then(|timeout| self.duration(&timeout)).map(Duration::from_millis);
        let (name, work_dir) = (name.to_owned().into(), work_dir.to_owned().into());
        // A context with an error could allow more than intended.
        (self.errors == errors).then_some(ContextSpec { name, limits, work_dir, scopes, timeout })
    }

    fn work_dir(&mut self, node: &Node<'a>) -> Option<&'a str> {
        let text = self.text(node, "workdir")?;
        let leads_up = Path::new(text).components().any(|part| part == Component::ParentDir);
        if leads_up || text.trim().is_empty() {
            let message = if leads_up { "leads upwards with `..`" } else { "names no directory" };
            let help = "name a directory below the working directory, or an absolute path";
            let at = node.pointer.child("workdir");
            self.report(codes::CONTEXT, &at, format!("`workdir: {text}` {message}"), help);
            return None;
        }
        Some(text)
    }

    /// Reads the toolsets of the manifest, which may include those of the program.
    fn toolsets(&mut self, own: Vec<(&'a str, Node<'a>)>, program: &mut Program) {
        let candidates = candidates(program);
        let mut sets: Vec<Set<'a>> = Vec::new();
        for (name, node) in own {
            if self.object(&node, &keys::TOOLSET) {
                sets.push(Set { name, node, members: None, is_open: false });
            }
        }
        for index in 0..sets.len() {
            self.members_of_set(index, &mut sets, program, &candidates);
        }
        for Set { name, node, members, .. } in sets {
            let context = node.get("context").map(|_| self.context_of_set(&node, program));
            // Without its context, the set would allow more than intended.
            let context = match context {
                None => None,
                Some(None) => continue,
                some => some.flatten(),
            };
            let Some(members) = members.filter(|members| !members.is_empty()) else { continue };
            let description = self.text(&node, "description").unwrap_or_default();
            program.toolsets.push(Toolset {
                name: name.to_owned().into(),
                description: description.to_owned().into(),
                members: members.into(),
                context,
                ..Toolset::EMPTY
            });
        }
    }

    fn context_of_set(&mut self, node: &Node<'a>, program: &Program) -> Option<Frozen<ContextSpec>> {
        let name = self.text(node, "context")?;
        if let Some(context) = program.contexts.iter().find(|context| *context.name == *name) {
            return Some(Frozen::from(context.clone()));
        }
        // A context with an error is omitted from the program, but it is still the one that is meant.
        let own = self.top().get("contexts").map(|contexts| contexts.entries()).unwrap_or_default();
        let own = own.iter().map(|(name, _)| *name);
        let known: BTreeSet<&str> =
            program.contexts.iter().map(|context| context.name.as_str()).chain(own).collect();
        let at = node.pointer.child("context");
        if known.contains(name) || self.imported.incomplete {
            // Its errors have been reported.
            return None;
        }
        self.report(
            codes::TOOLSET,
            &at,
            format!("there is no context `{name}`"),
            nearest(name, &known.into_iter().collect::<Vec<_>>()),
        );
        None
    }

    /// Finds the members of a toolset: those of the sets that it includes, then its own.
    fn members_of_set(
        &mut self,
        index: usize,
        sets: &mut Vec<Set<'a>>,
        program: &Program,
        candidates: &[Candidate],
    ) {
        let Some(set) = sets.get_mut(index).filter(|set| set.members.is_none()) else { return };
        let (name, node) = (set.name, set.node.clone());
        set.is_open = true;
        let mut members: Vec<Text> = Vec::new();
        for (included, at) in self.texts(&node, "include").unwrap_or_default() {
            let found = match sets.iter().position(|set| set.name == included) {
                Some(other) if sets.get(other).is_some_and(|set| set.is_open) => {
                    let message = format!("the toolset `{name}` includes itself through `{included}`");
                    self.report(codes::TOOLSET, &at, message, "remove one of the `include`s in the cycle");
                    continue;
                }
                Some(other) => {
                    self.members_of_set(other, sets, program, candidates);
                    sets.get(other).and_then(|set| set.members.clone()).unwrap_or_default()
                }
                None => match program.toolsets.iter().find(|set| *set.name == *included) {
                    Some(set) => set.members.to_vec(),
                    None => {
                        let own = sets.iter().map(|set| set.name);
                        let known: Vec<&str> =
                            own.chain(program.toolsets.iter().map(|set| set.name.as_str())).collect();
                        let message = format!("there is no toolset `{included}`");
                        self.report(codes::TOOLSET, &at, message, nearest(included, &known));
                        continue;
                    }
                },
            };
            add(&mut members, found);
        }
        let mut named: BTreeSet<Text> = BTreeSet::new();
        for item in self.list(&node, "tools").unwrap_or_default() {
            let found = self.member(&item, candidates, &mut named);
            add(&mut members, found);
        }
        if node.get("tools").is_none() && node.get("include").is_none() {
            let message = format!("the toolset `{name}` has no tools");
            self.report(codes::TOOLSET, &node.pointer, message, "add `tools: […]`");
        }
        if let Some(set) = sets.get_mut(index) {
            set.is_open = false;
            set.members = Some(members);
        }
    }

    /// Returns the tools that a member of a toolset refers to.
    fn member(&mut self, item: &Node<'a>, candidates: &[Candidate], named: &mut BTreeSet<Text>) -> Vec<Text> {
        let of_agent = item.value.is_object();
        let text = if of_agent {
            self.object(item, &keys::MEMBER);
            let agent = self.required(item, "agent", "a member of a toolset", "write `{agent: NAME}`");
            agent.and_then(|agent| self.text_of(&agent))
        } else {
            self.text_of(item)
        };
        let Some(text) = text else { return Vec::new() };
        let fits = |candidate: &&Candidate| candidate.is_agent || !of_agent;
        if text.contains('*') {
            let matches = |name: &str| glob(text, name);
            let found = candidates.iter().filter(fits);
            let found = found.filter(|one| matches(&one.name) || one.id.as_deref().is_some_and(matches));
            let found: Vec<Text> = found.map(|one| one.name.clone()).collect();
            let fits_broken = self.declared.iter().any(|id| matches(id));
            if found.is_empty() && !fits_broken && !self.imported.incomplete {
                let message = format!("no tool matches `{text}`");
                self.report(codes::MEMBER, &item.pointer, message, "correct the pattern, or remove it");
            }
            return found;
        }
        let by_name = candidates.iter().filter(fits).find(|one| *one.name == *text);
        let found =
            by_name.or_else(|| candidates.iter().filter(fits).find(|one| one.id.as_deref() == Some(text)));
        let Some(found) = found else {
            if self.imported.incomplete {
                return Vec::new();
            }
            let is_whole = candidates.iter().any(|one| *one.name == *text || one.id.as_deref() == Some(text));
            if !is_whole && self.is_declared(text) {
                let message = format!("the tool `{text}` has errors, so no toolset can contain it");
                self.report(codes::MEMBER, &item.pointer, message, "correct that tool first");
                return Vec::new();
            }
            let full: Vec<&str> = candidates.iter().filter(fits).map(|one| one.name.as_str()).collect();
            let ids: Vec<&str> = candidates.iter().filter(fits).filter_map(|one| one.id.as_deref()).collect();
            let message = format!("there is no {} `{text}`", if of_agent { "agent" } else { "tool" });
            self.report(codes::MEMBER, &item.pointer, message, near(text, &full, &ids));
            return Vec::new();
        };
        if !named.insert(found.name.clone()) {
            let message = format!("the tool `{text}` is listed twice");
            self.report(codes::MEMBER, &item.pointer, message, "name it once");
        }
        vec![found.name.clone()]
    }

    /// Whether the manifest declares a tool of this name, although it cannot be compiled.
    fn is_declared(&self, name: &str) -> bool {
        let is_meant = |id: &String| {
            id == name || self.namespace().is_some_and(|namespace| with_namespace(namespace, id) == name)
        };
        self.declared.iter().any(is_meant)
    }
}

/// Returns the tools of a program that toolsets can name.
fn candidates(program: &Program) -> Vec<Candidate> {
    let own: BTreeMap<&str, &str> =
        program.tools.iter().map(|tool| (tool.spec.name.as_str(), tool.origin.id.as_str())).collect();
    let candidate = |tool: &Tool| Candidate {
        name: tool.spec.name.to_text(),
        id: own.get(tool.spec.name.as_str()).map(|id| (*id).to_owned()),
        is_agent: tool.spec.sub_agent,
    };
    program.all_tools().into_iter().map(candidate).collect()
}

/// Adds names that are not yet included.
fn add(members: &mut Vec<Text>, more: Vec<Text>) {
    for name in more {
        if !members.contains(&name) {
            members.push(name);
        }
    }
}
