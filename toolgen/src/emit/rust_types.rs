//! Translates shapes to Rust types for arguments and results.
//!
//! It does not use typify, which is made for another job: typify reads draft-07 schemas (shapes keep 2020-12's
//! meaning), panics on enum values it cannot name and on references it does not expect, gives names that clash after
//! case folding, turns patterns and lengths into newtypes whose errors no model can read, and its output costs rustc
//! most of what progenitor's does. Arguments are checked by `decode` before a call in any case, so types here carry
//! structure and leave rules to the schema.
//!
//! The translations:
//!
//! * objects: structs; a field is an `Option` unless it is required, an `Option<Option<_>>` where `null` and absence
//!   differ. A required field with one possible text is written automatically and is not in the struct;
//! * texts: `String`, or what [`TextType`](super::TextType) says;
//! * objects without known fields: `BTreeMap`, its keys `String` or what the document says about them;
//! * lists of texts to choose from, or of integers that have names: enums, one for equal lists. Those that occur in
//!   results have `Other`, so a new value breaks nothing;
//! * unions: enums; the variant is the one that the value names (by a discriminator or its JSON type), or the one that
//!   keeps most of it;
//! * `allOf` of objects: one struct;
//! * what has no such form: `serde_json::Value`.
//!
//! Equal types are one type, wherever in the document they occur. Only what tools reach is written. Fields for one
//! direction (`readOnly`, `writeOnly`) are left out of types that serve only the other. Types that contain themselves
//! are boxed; types that nest deeper than rustc follows are cut by a `Link`.

mod codecs;
mod constructors;
mod depth;
pub(super) mod doc;
mod enums;
mod keys;
mod lower;
mod markdown;
mod merge;
mod model;
mod objects;
mod own;
mod place;
mod print;
mod raw;
mod repeats;
mod scalars;
mod shared_enums;
mod tags;
mod titles;
mod type_modules;
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
    /// The module `types`, or an empty text if nothing is in it.
    pub(super) text: String,
    /// The module `types` of the module of each tag, the same way.
    pub(super) tags: Vec<String>,
    /// For each tool the type of its arguments and that of its results, as they are written in that module.
    pub(super) calls: Vec<(String, String)>,
}

/// Returns the types of these tools, whose named shapes are all among `defs`. `tags` are the names of the modules of
/// tags.
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
    let repeats = repeats::Repeats::of(tools, defs, &usage);
    let titles = titles::Titles::of(tools, defs, &usage);
    let mut lowering = lower::Lowering::new(defs, &usage, &repeats, titles, &style.text_types);
    if tools.iter().any(|wanted| wanted.is_function) {
        lowering.take("Functions");
    }
    let inputs: Vec<_> = tools.iter().map(|wanted| lowering.reserve_input(wanted)).collect();
    lowering.reserve_names();
    let mut calls: Vec<_> =
        tools.iter().zip(inputs).map(|(wanted, input)| lowering.tool(wanted, input)).collect();
    let (mut items, mut names) = lowering.finish();
    tags::complete(&mut items);
    merge::equal(&mut items, &mut calls);
    shared_enums::rename(&mut items, &tags_of(tools, &calls), &mut names);
    let own = own::Own::of(&mut items, &calls, &mut names);
    keys::settle(&mut items, &mut calls);
    usage::mark_use(&mut items, &calls);
    depth::bound(&mut items);
    usage::mark_keys(&mut items);
    type_modules::mark(&mut items, &calls);
    print::types(&items, &calls, &own, tags, style)
}

/// Returns the tags of tools, by the structs of their arguments.
fn tags_of<'t>(tools: &[TypeRequest<'t>], calls: &[model::CallTypes<'_>]) -> BTreeMap<usize, &'t str> {
    let tags = calls.iter().zip(tools).map(|(call, wanted)| (call.input, wanted.spec.category.as_str()));
    tags.filter(|(_, tag)| *tag != ToolSpec::EMPTY.category.as_str()).collect()
}
