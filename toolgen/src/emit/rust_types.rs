//! Translates shapes to Rust types for arguments and results.
//!
//! It does not use typify, for these reasons: typify reads draft-07 schemas (shapes keep 2020-12's meaning),
//! panics on enum values it cannot name and on references it does not expect, generates names that clash after case
//! folding, turns patterns and lengths into newtypes whose errors no model can read, and its output costs rustc most
//! of what progenitor's does. Arguments are always checked by `decode` before a call, so types here express structure
//! and leave rules to the schema.
//!
//! The translations:
//!
//! * objects: structs; a field is an `Option` unless it is required, an `Option<Option<_>>` where `null` and absence
//!   differ. A required field with one possible string is written automatically and is not in the struct;
//! * strings: `String`, or a type of a [`TextType`](super::TextType);
//! * objects without known fields: `BTreeMap`, with keys of type `String` or as the document describes them;
//! * enumerated strings, and integers that have names: enums, the same for equal lists of values. Those that occur in
//!   results have `Other`, so a new value breaks nothing;
//! * unions: enums; the variant is the one that the value identifies (by a discriminator or its JSON type), or the
//!   one that keeps most of the value;
//! * `allOf` of objects: one struct;
//! * anything else: `serde_json::Value`.
//!
//! Equal types are one type, regardless of where they occur in the document. Only types that tools reach are written.
//! Fields for one direction (`readOnly`, `writeOnly`) are omitted from types that serve only the other. Types that
//! contain themselves are boxed; types that nest too deep for rustc are cut by a `Link`.

mod codecs;
mod constructors;
mod depth;
pub(super) mod doc;
mod enums;
mod keys;
mod location_aliases;
mod lower;
mod markdown;
mod merge;
mod model;
mod objects;
mod print;
mod raw;
mod repeats;
mod scalars;
mod shared_enums;
mod tags;
mod titles;
mod type_modules;
mod type_site;
mod union;
mod usage;
mod variants;

use std::collections::BTreeMap;

use toolgen_core::{Def, List, ToolSpec};

pub(super) use model::TypeRequest;

use super::ModuleStyle;

/// The types of a module's tools.
#[derive(Default)]
pub(super) struct Types {
    /// The module `types`, or an empty string if it has no items.
    pub(super) text: String,
    /// The module `types` in the module of each tag, likewise.
    pub(super) tags: Vec<String>,
    /// The type of the arguments and of the results of each tool, as written in that module.
    pub(super) calls: Vec<(String, String)>,
}

/// Returns the types of these tools; `defs` contains all of their named shapes. `tags` are the names of the modules
/// of tags.
pub(super) fn types(
    tools: &[TypeRequest<'_>],
    defs: &List<Def>,
    tags: &[&str],
    style: &ModuleStyle,
) -> Types {
    if tools.is_empty() {
        return Types::default();
    }
    let usage = usage::of(tools);
    let repeats = repeats::RepeatLayer::of(tools, defs, &usage);
    let titles = titles::Titles::of(tools, defs, &usage);
    let mut lowering = lower::Lowering::new(defs, &usage, &repeats, titles, &style.text_types);
    if tools.iter().any(|request| request.is_function) {
        lowering.reserve_name("Functions");
    }
    let inputs: Vec<_> = tools.iter().map(|request| lowering.reserve_input(request)).collect();
    lowering.reserve_names();
    let mut calls: Vec<_> =
        tools.iter().zip(inputs).map(|(request, input)| lowering.tool(request, input)).collect();
    let (mut items, mut names) = lowering.finish();
    tags::add_tag_fields(&mut items);
    merge::merge_equal(&mut items, &mut calls);
    shared_enums::rename(&mut items, &tags_of(tools, &calls), &mut names);
    let aliases = location_aliases::LocationAliases::of(&mut items, &calls, &mut names);
    keys::normalize(&mut items, &mut calls);
    usage::mark_use(&mut items, &calls);
    depth::limit_depth(&mut items);
    usage::mark_keys(&mut items);
    type_modules::assign(&mut items, &calls);
    print::types(&items, &calls, &aliases, tags, style)
}

/// Returns the tags of tools, keyed by their argument structs.
fn tags_of<'t>(tools: &[TypeRequest<'t>], calls: &[model::CallTypes<'_>]) -> BTreeMap<usize, &'t str> {
    let tags = calls.iter().zip(tools).map(|(call, request)| (call.input, request.spec.category.as_str()));
    tags.filter(|(_, tag)| *tag != ToolSpec::EMPTY.category.as_str()).collect()
}
