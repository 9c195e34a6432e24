//! Compiles contract locks, and the tools that programs export.
//!
//! `cargo toolgen lock` writes such a file, and a program with `toolgen_runtime::export!` prints one. Its tools are
//! those of the program: they are displayed and compared, but cannot be called.

pub mod codes;

use std::collections::BTreeMap;
use std::sync::Arc;

use toolgen_core::spec::surface::{SURFACE, Surface, is_surface};
use toolgen_core::spec::toolset::Toolset;
use toolgen_core::{Def, ExecutionPlan, List, Text, ToolName, ToolSpec};

use super::{Claim, Frontend};
use crate::options::Options;
use crate::problem::{Code, Problems};
use crate::selection::{Entry, SelectedEntry, choose_named};
use crate::source::{Document, Pointer};
use crate::tool::{Origin, Program, Success, Tool};

/// The front end for contract locks.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContractLock;

impl Frontend for ContractLock {
    fn name(&self) -> &'static str {
        "lock"
    }

    fn title(&self) -> &'static str {
        "contract lock"
    }

    fn mark(&self) -> &'static str {
        "a contract lock starts with `toolgen_lock: 1`"
    }

    fn claims(&self, document: &Document) -> Claim {
        if is_surface(&document.root) { Claim::Yes } else { Claim::No }
    }

    fn lower(&self, document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program> {
        let surface = read(document, problems)?;
        let message = "the tools of a lock are only described, and cannot be called";
        let help = "call the tools of the locked documents or program";
        problems.report(codes::NO_CALLS, &Pointer::ROOT.child(SURFACE), message, help);
        Some(lower(document, &surface, options, problems))
    }

    fn codes(&self) -> &'static [Code] {
        codes::ALL
    }
}

/// Reads a lock, and reports its errors.
pub(crate) fn read(document: &Document, problems: &mut Problems) -> Option<Surface> {
    match Surface::read(&document.root) {
        Ok(surface) => Some(surface),
        Err(errors) => {
            for error in errors {
                let pointer = Pointer::parse(&error.pointer).unwrap_or_default();
                problems.report_in(&document.source, codes::UNUSABLE, &pointer, error.message, error.help);
            }
            None
        }
    }
}

/// Returns the named shapes of all tools. Most tools share one list.
fn all_defs(specs: &[ToolSpec]) -> List<Def> {
    let mut defs: BTreeMap<&str, &Def> = BTreeMap::new();
    let def_lists = specs.iter().map(|spec| &*spec.defs).collect::<Vec<&[Def]>>();
    for list in def_lists.chunk_by(|left, right| std::ptr::eq(*left, *right)).filter_map(|same| same.first())
    {
        for def in *list {
            defs.entry(def.name.as_str()).or_insert(def);
        }
    }
    defs.into_values().cloned().collect()
}

/// Returns the category of a tool, and the toolsets that contain it.
fn groups<'s>(surface: &'s Surface, spec: &'s ToolSpec) -> Vec<&'s str> {
    let name = spec.name.as_str();
    let containing = surface.toolsets().filter(|(_, members)| members.iter().any(|member| member == name));
    std::iter::once(spec.category.as_str()).chain(containing.map(|(set, _)| set)).collect()
}

fn lower(document: &Arc<Document>, surface: &Surface, options: &Options, problems: &mut Problems) -> Program {
    let specs = surface.specs();
    let names: Vec<String> = specs.iter().map(|spec| spec.name.to_string()).collect();
    let entries = specs.iter().map(|spec| Entry {
        id: spec.name.as_str(),
        title: spec.name.to_string(),
        fallback: spec.name.to_string(),
        groups: groups(surface, spec),
        deprecated: spec.deprecated.is_some(),
    });
    let entries: Vec<Entry<'_>> = entries.collect();
    let mut program = Program {
        kind: ContractLock.name(),
        version: "1".to_owned(),
        operations: specs.len(),
        ..Program::default()
    };
    let mut renamed: BTreeMap<&str, String> = BTreeMap::new();
    for SelectedEntry { index, name } in choose_named(&entries, names, options, problems) {
        let (Some(spec), Some(Entry { groups, .. })) = (specs.get(index), entries.get(index)) else {
            continue;
        };
        let original_name = spec.name.as_str();
        let Ok(tool_name) = ToolName::parse(name.clone()) else { continue };
        if let Some(call) = surface.call(original_name) {
            program.calls.insert(name.clone(), call.clone());
        }
        let origin = Origin {
            source: Arc::clone(&document.source),
            pointer: Pointer::ROOT.child("tools").child(original_name),
            id: original_name.to_owned(),
            title: original_name.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        };
        program.tools.push(Tool {
            spec: ToolSpec { name: tool_name, ..spec.clone() },
            call: ExecutionPlan::Function,
            failure: None,
            success: Success::default(),
            origin,
        });
        renamed.insert(original_name, name);
    }
    program.tools.sort_by(|left, right| left.spec.name.cmp(&right.spec.name));
    program.defs = all_defs(&specs);
    program.toolsets = surface
        .toolsets()
        .map(|(name, members)| {
            let members = members.iter().filter_map(|member| renamed.get(member.as_str()));
            Toolset::new(name.to_owned(), members.map(|member| Text::copy_of(member)))
        })
        .collect();
    program
}
