//! Compiles toolsets, contexts and imports, which concern the program as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::time::Duration;

use toolgen_core::spec::Network;
use toolgen_core::spec::limits::EffectLimits;
use toolgen_core::spec::toolset::{ContextSpec, Toolset};
use toolgen_core::{Frozen, Text, ToolName};

use super::codes;
use super::compose::suggest_tool;
use super::context::{Context, suggest_name};
use super::keys;
use super::node::Node;
use crate::names::with_namespace;
use crate::selector::glob;
use crate::source::Pointer;
use crate::tool::{Program, Tool};

/// A toolset that is being read.
struct PendingSet<'a> {
    name: &'a str,
    node: Node<'a>,
    /// The members; `None` until they are resolved.
    members: Option<Vec<Text>>,
    is_being_resolved: bool,
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
        for (context, pointer) in imported_contexts {
            // The same context may be imported through several files.
            if program.contexts.contains(&context) {
                continue;
            }
            let is_used = program.contexts.iter().any(|other| other.name == context.name);
            if self.is_new("context", &context.name, is_used, &pointer) {
                program.contexts.push(context);
            }
        }
        program.contexts.sort_by(|first, second| first.name.cmp(&second.name));
        let declared_sets = self.object_members(&top, "toolsets", "toolsets");
        let mut toolsets: Vec<Toolset> = Vec::new();
        for (set, pointer) in imported_sets {
            if toolsets.contains(&set) {
                continue;
            }
            let is_used = declared_sets.iter().any(|(name, _)| *name == &*set.name)
                || toolsets.iter().any(|toolset| toolset.name == set.name);
            if self.is_new("toolset", &set.name, is_used, &pointer) {
                toolsets.push(set);
            }
        }
        program.toolsets = toolsets;
        self.toolsets(declared_sets, program);
        program.toolsets.sort_by(|first, second| first.name.cmp(&second.name));
    }

    /// Adds the imported documents, without tools whose names are used. A tool that is imported by several paths,
    /// such as from a document that several imports import, is a single tool.
    fn add_imports(&mut self, program: &mut Program) {
        let origin = |tool: &Tool| tool.origin.source.path.display().to_string();
        let mut tools_by_name: BTreeMap<String, (String, Tool)> = BTreeMap::new();
        for tool in &program.tools {
            let document = "the manifest itself".to_owned();
            tools_by_name.insert(tool.spec.name.as_str().to_lowercase(), (document, tool.clone()));
        }
        for (mut part, pointer) in std::mem::take(&mut self.imported.parts) {
            let mut removed: BTreeSet<ToolName> = BTreeSet::new();
            for tool in part.program.all_tools() {
                let name = &tool.spec.name;
                let document = format!("`{}`", origin(tool));
                match tools_by_name.get(&name.as_str().to_lowercase()) {
                    Some((_, other)) if other == tool => {
                        removed.insert(name.clone());
                    }
                    Some((other, _)) => {
                        let message =
                            format!("the tool `{name}` of {document} has the name of one of {other}");
                        let help = "give the import a `namespace`, or drop the tool with `exclude`";
                        self.report(codes::COLLISION, &pointer, message, help);
                        removed.insert(name.clone());
                    }
                    None => {
                        drop(tools_by_name.insert(name.as_str().to_lowercase(), (document, tool.clone())));
                    }
                }
            }
            let had_tools = !part.program.is_empty();
            part.program.remove(&removed);
            if !(had_tools && part.program.is_empty()) {
                program.parts.push(part);
            }
        }
        program.sources.append(&mut self.imported.sources);
        program.sources.sort();
        program.sources.dedup();
    }

    /// Whether the name of an imported item is unused. Reports a duplicate name.
    fn is_new(&mut self, kind: &str, name: &str, is_used: bool, pointer: &Pointer) -> bool {
        if is_used {
            let message = format!("there are two {kind}s `{name}`, one of them in this import");
            self.report(codes::COLLISION, pointer, message, "rename one of them");
        }
        !is_used
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
        // Without its invalid limits, a context could allow more than intended.
        (self.errors == errors).then_some(ContextSpec { name, limits, work_dir, scopes, timeout })
    }

    fn work_dir(&mut self, node: &Node<'a>) -> Option<&'a str> {
        let text = self.text(node, "workdir")?;
        let has_parent_segment = Path::new(text).components().any(|part| part == Component::ParentDir);
        if has_parent_segment || text.trim().is_empty() {
            let message = if has_parent_segment { "leads upwards with `..`" } else { "names no directory" };
            let help = "name a directory below the working directory, or an absolute path";
            let pointer = node.pointer.child("workdir");
            self.report(codes::CONTEXT, &pointer, format!("`workdir: {text}` {message}"), help);
            return None;
        }
        Some(text)
    }

    /// Reads the toolsets of the manifest, which may include imported toolsets.
    fn toolsets(&mut self, declared_sets: Vec<(&'a str, Node<'a>)>, program: &mut Program) {
        let candidates = candidates(program);
        let mut sets: Vec<PendingSet<'a>> = Vec::new();
        for (name, node) in declared_sets {
            if self.object(&node, &keys::TOOLSET) {
                sets.push(PendingSet { name, node, members: None, is_being_resolved: false });
            }
        }
        for index in 0..sets.len() {
            self.members_of_set(index, &mut sets, program, &candidates);
        }
        for PendingSet { name, node, members, .. } in sets {
            let context = node.get("context").map(|_| self.context_of_set(&node, program));
            // Without its context, the toolset would allow more than intended.
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
        // A context with an error is omitted from the program, but a toolset may refer to it.
        let own_names = self.top().get("contexts").map(|contexts| contexts.entries()).unwrap_or_default();
        let own_names = own_names.iter().map(|(name, _)| *name);
        let known: BTreeSet<&str> =
            program.contexts.iter().map(|context| context.name.as_str()).chain(own_names).collect();
        let pointer = node.pointer.child("context");
        if known.contains(name) || self.imported.incomplete {
            // The errors of the context have been reported.
            return None;
        }
        self.report(
            codes::TOOLSET,
            &pointer,
            format!("there is no context `{name}`"),
            suggest_name(name, &known.into_iter().collect::<Vec<_>>()),
        );
        None
    }

    /// Resolves the members of a toolset: the members of the toolsets that it includes, then its own.
    fn members_of_set(
        &mut self,
        index: usize,
        sets: &mut Vec<PendingSet<'a>>,
        program: &Program,
        candidates: &[Candidate],
    ) {
        let Some(set) = sets.get_mut(index).filter(|set| set.members.is_none()) else { return };
        let (name, node) = (set.name, set.node.clone());
        set.is_being_resolved = true;
        let mut members: Vec<Text> = Vec::new();
        for (included, pointer) in self.texts(&node, "include").unwrap_or_default() {
            let included_members = match sets.iter().position(|set| set.name == included) {
                Some(other) if sets.get(other).is_some_and(|set| set.is_being_resolved) => {
                    let message = format!("the toolset `{name}` includes itself through `{included}`");
                    self.report(
                        codes::TOOLSET,
                        &pointer,
                        message,
                        "remove one of the `include`s in the cycle",
                    );
                    continue;
                }
                Some(other) => {
                    self.members_of_set(other, sets, program, candidates);
                    sets.get(other).and_then(|set| set.members.clone()).unwrap_or_default()
                }
                None => match program.toolsets.iter().find(|set| *set.name == *included) {
                    Some(set) => set.members.to_vec(),
                    None => {
                        let set_names = sets.iter().map(|set| set.name);
                        let known: Vec<&str> =
                            set_names.chain(program.toolsets.iter().map(|set| set.name.as_str())).collect();
                        let message = format!("there is no toolset `{included}`");
                        self.report(codes::TOOLSET, &pointer, message, suggest_name(included, &known));
                        continue;
                    }
                },
            };
            add(&mut members, included_members);
        }
        let mut listed_tools: BTreeSet<Text> = BTreeSet::new();
        for item in self.list(&node, "tools").unwrap_or_default() {
            let tools = self.member(&item, candidates, &mut listed_tools);
            add(&mut members, tools);
        }
        if node.get("tools").is_none() && node.get("include").is_none() {
            let message = format!("the toolset `{name}` has no tools");
            self.report(codes::TOOLSET, &node.pointer, message, "add `tools: […]`");
        }
        if let Some(set) = sets.get_mut(index) {
            set.is_being_resolved = false;
            set.members = Some(members);
        }
    }

    /// Returns the tools that an entry of a toolset refers to.
    fn member(
        &mut self,
        item: &Node<'a>,
        candidates: &[Candidate],
        listed_tools: &mut BTreeSet<Text>,
    ) -> Vec<Text> {
        let is_agent = item.value.is_object();
        let text = if is_agent {
            self.object(item, &keys::MEMBER);
            let agent = self.required(item, "agent", "a member of a toolset", "write `{agent: NAME}`");
            agent.and_then(|agent| self.text_of(&agent))
        } else {
            self.text_of(item)
        };
        let Some(text) = text else { return Vec::new() };
        let is_eligible = |candidate: &&Candidate| candidate.is_agent || !is_agent;
        if text.contains('*') {
            let matches = |name: &str| glob(text, name);
            let matching_tools = candidates.iter().filter(is_eligible);
            let matching_tools =
                matching_tools.filter(|tool| matches(&tool.name) || tool.id.as_deref().is_some_and(matches));
            let matching_tools: Vec<Text> = matching_tools.map(|tool| tool.name.clone()).collect();
            let matches_broken = self.declared.iter().any(|id| matches(id));
            if matching_tools.is_empty() && !matches_broken && !self.imported.incomplete {
                let message = format!("no tool matches `{text}`");
                self.report(codes::MEMBER, &item.pointer, message, "correct the pattern, or remove it");
            }
            return matching_tools;
        }
        let with_name = candidates.iter().filter(is_eligible).find(|tool| *tool.name == *text);
        let candidate = with_name
            .or_else(|| candidates.iter().filter(is_eligible).find(|tool| tool.id.as_deref() == Some(text)));
        let Some(candidate) = candidate else {
            if self.imported.incomplete {
                return Vec::new();
            }
            let exists =
                candidates.iter().any(|tool| *tool.name == *text || tool.id.as_deref() == Some(text));
            if !exists && self.is_declared(text) {
                let message = format!("the tool `{text}` has errors, so no toolset can contain it");
                self.report(codes::MEMBER, &item.pointer, message, "correct that tool first");
                return Vec::new();
            }
            let names: Vec<&str> =
                candidates.iter().filter(is_eligible).map(|tool| tool.name.as_str()).collect();
            let ids: Vec<&str> =
                candidates.iter().filter(is_eligible).filter_map(|tool| tool.id.as_deref()).collect();
            let message = format!("there is no {} `{text}`", if is_agent { "agent" } else { "tool" });
            self.report(codes::MEMBER, &item.pointer, message, suggest_tool(text, &names, &ids));
            return Vec::new();
        };
        if !listed_tools.insert(candidate.name.clone()) {
            let message = format!("the tool `{text}` is listed twice");
            self.report(codes::MEMBER, &item.pointer, message, "name it once");
        }
        vec![candidate.name.clone()]
    }

    /// Whether the manifest declares a tool with this name, even if it cannot be compiled.
    fn is_declared(&self, name: &str) -> bool {
        let is_named = |id: &String| {
            id == name || self.namespace().is_some_and(|namespace| with_namespace(namespace, id) == name)
        };
        self.declared.iter().any(is_named)
    }
}

/// Returns the tools of a program that toolsets can name.
fn candidates(program: &Program) -> Vec<Candidate> {
    let ids: BTreeMap<&str, &str> =
        program.tools.iter().map(|tool| (tool.spec.name.as_str(), tool.origin.id.as_str())).collect();
    let candidate = |tool: &Tool| Candidate {
        name: tool.spec.name.to_text(),
        id: ids.get(tool.spec.name.as_str()).map(|id| (*id).to_owned()),
        is_agent: tool.spec.sub_agent,
    };
    program.all_tools().into_iter().map(candidate).collect()
}

/// Appends names that are not yet included.
fn add(members: &mut Vec<Text>, added: Vec<Text>) {
    for name in added {
        if !members.contains(&name) {
            members.push(name);
        }
    }
}
