//! The resources that a call touches, and whether two calls conflict.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;
use toolgen_core::internal::object_in;

use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::tool::{decoded, parsed};
use crate::schema::dialect::Dialect;
use crate::schema::shape::Literal;
use crate::spec::{RequirementKind, ToolSpec};
use crate::toolbox::Toolbox;

/// The maximum number of resources of one template; beyond it, the footprint is everything with the same beginning.
const MAX_RESOURCES: usize = 64;

/// The resources that a call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Footprint {
    exclusive: bool,
    reads: Vec<Resource>,
    writes: Vec<Resource>,
    tool: Text,
    /// The tools that must be called first.
    requires: Vec<Text>,
}

/// A resource as a string that is a prefix of another only if it covers it: levels end with `/`. Without a `/` at its
/// end it covers everything that starts with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resource(String);

impl Footprint {
    /// The footprint of a call without conflicts.
    pub(super) const NONE: Footprint = Footprint {
        exclusive: false,
        reads: Vec::new(),
        writes: Vec::new(),
        tool: Text::EMPTY,
        requires: Vec::new(),
    };

    /// Returns the footprint of a call of one of a toolbox's tools. A call that will not run touches nothing.
    pub(super) fn of(call: &ToolCall, toolbox: &Toolbox, dialect: &Dialect) -> Footprint {
        let registry = &toolbox.inner().registry;
        let Some(tool) = registry.index(&call.name).map(|index| registry.at(index)) else {
            return Footprint::NONE;
        };
        let directory = toolbox.context().work_dir.as_deref();
        Footprint::declared(tool.spec(), &call.arguments, dialect, directory)
    }

    fn declared(
        spec: &ToolSpec,
        arguments: &Value,
        dialect: &Dialect,
        directory: Option<&Path>,
    ) -> Footprint {
        let tools = spec.requires.iter().filter(|it| it.kind == RequirementKind::Tool);
        let requires = tools.map(|it| it.name.clone()).collect();
        let none =
            Footprint { exclusive: spec.exclusive, tool: spec.name.to_text(), requires, ..Footprint::NONE };
        if spec.reads.is_empty() && spec.writes.is_empty() {
            return none;
        }
        let Ok(written) = parsed(arguments.clone()) else { return none };
        let Ok(known) = decoded(spec, written.clone(), dialect) else { return none };
        // Templates use the names of the schema; decoded arguments have wire names.
        let argument = |name: &str| {
            let given = known.get(name).or_else(|| written.get(name)).map(Cow::Borrowed);
            given.or_else(|| Some(Cow::Owned(default(spec, name)?)))
        };
        let resolve = |templates: &[Text]| {
            let resolved = templates.iter().flat_map(|template| resources(template, &argument, directory));
            resolved.collect::<Vec<_>>()
        };
        Footprint { reads: resolve(&spec.reads), writes: resolve(&spec.writes), ..none }
    }

    pub(super) fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    pub(super) fn tool(&self) -> &Text {
        &self.tool
    }

    /// Returns the tools whose earlier calls the call waits for.
    pub(super) fn requires(&self) -> &[Text] {
        &self.requires
    }

    /// Whether the call declares neither what it reads nor what it writes.
    pub(super) fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// Whether the calls must not overlap because of what they read and write.
    pub(super) fn conflicts(&self, other: &Footprint) -> bool {
        let disturbs = |one: &Footprint, other: &Footprint| {
            one.writes
                .iter()
                .any(|write| other.reads.iter().chain(&other.writes).any(|touched| write.overlaps(touched)))
        };
        disturbs(self, other) || disturbs(other, self)
    }

    /// For tests that do not use tools.
    #[cfg(test)]
    pub(super) fn new(exclusive: bool, reads: &[&str], writes: &[&str]) -> Footprint {
        let resources = |texts: &[&str]| texts.iter().map(|text| Resource::new(text, true, None)).collect();
        Footprint { exclusive, reads: resources(reads), writes: resources(writes), ..Footprint::NONE }
    }
}

impl Resource {
    /// Creates a resource from a string, which is `whole` unless something unknown follows it.
    fn new(text: &str, whole: bool, directory: Option<&Path>) -> Resource {
        let scheme = text.find([':', '/']).filter(|at| text[*at..].starts_with(':')).map_or(0, |at| at + 1);
        let (scheme, mut path) = text.split_at(scheme);
        let joined;
        // It is unknown whether an unknown path is relative.
        if let Some(directory) = directory
            && scheme == "file:"
            && !path.starts_with('/')
            && (whole || !path.is_empty())
        {
            joined = format!("{}/{path}", directory.display());
            path = &joined;
        }
        // The last level is only partly known.
        let (path, last) =
            if whole { (path, "") } else { path.split_at(path.rfind('/').map_or(0, |at| at + 1)) };
        let absolute = path.starts_with('/');
        let mut levels: Vec<&str> = Vec::new();
        for level in path.split('/') {
            match level {
                "" | "." => {}
                ".." if levels.last().is_some_and(|last| *last != "..") => drop(levels.pop()),
                ".." if absolute => {}
                level => levels.push(level),
            }
        }
        let mut out = String::with_capacity(text.len() + 2);
        out.push_str(scheme);
        if absolute {
            out.push('/');
        }
        for level in levels {
            out.push_str(level);
            out.push('/');
        }
        out.push_str(last);
        Resource(out)
    }

    fn overlaps(&self, other: &Resource) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }
}

/// Returns the resources of a template: one unless an argument is a list.
fn resources<'a>(
    template: &str,
    argument: &impl Fn(&str) -> Option<Cow<'a, Value>>,
    directory: Option<&Path>,
) -> Vec<Resource> {
    let mut texts = vec![String::new()];
    let mut rest = template;
    let mut whole = true;
    while let Some((literal, name, after)) = next_argument(rest) {
        texts.iter_mut().for_each(|text| text.push_str(literal));
        match argument(name).and_then(|value| values(&value)) {
            Some(values) if texts.len() * values.len() <= MAX_RESOURCES => {
                texts = texts
                    .iter()
                    .flat_map(|text| values.iter().map(move |value| format!("{text}{value}")))
                    .collect();
            }
            _ => {
                whole = false;
                break;
            }
        }
        rest = after;
    }
    if whole {
        texts.iter_mut().for_each(|text| text.push_str(rest));
    }
    texts.iter().map(|text| Resource::new(text, whole, directory)).collect()
}

/// Returns the value of an argument that the model omits, if the schema states a default.
fn default(spec: &ToolSpec, name: &str) -> Option<Value> {
    let rules = object_in(&spec.input, &spec.defs)?;
    let field = rules.fields.iter().find(|field| field.name.as_str() == name)?;
    field.shape.default.as_ref().map(Literal::to_json)
}

/// Returns the text before the first argument of a template, the name of the argument, and the text after it.
fn next_argument(template: &str) -> Option<(&str, &str, &str)> {
    let (literal, rest) = template.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((literal, name, after))
}

/// Returns the strings that replace an argument; `None` if it cannot name a resource.
fn values(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Number(_) | Value::Bool(_) => Some(vec![value.to_string()]),
        Value::Array(items) => {
            let scalars = items.iter().map(|item| if item.is_array() { None } else { values(item) });
            scalars.collect::<Option<Vec<_>>>().map(|items| items.concat())
        }
        Value::Null | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolved(template: &str, arguments: &Value) -> Vec<String> {
        resources(template, &|name| arguments.get(name).map(Cow::Borrowed), None)
            .into_iter()
            .map(|one| one.0)
            .collect()
    }

    fn overlap(one: &str, other: &str) -> bool {
        let (one, other) = (Resource::new(one, true, None), Resource::new(other, true, None));
        assert_eq!(one.overlaps(&other), other.overlaps(&one));
        one.overlaps(&other)
    }

    #[test]
    fn arguments_fill_their_placeholders() {
        let arguments = json!({ "path": "src/lib.rs", "id": 7, "on": true });
        assert_eq!(resolved("file:{path}", &arguments), ["file:src/lib.rs/"]);
        assert_eq!(resolved("row:{id}/{on}", &arguments), ["row:7/true/"]);
        assert_eq!(resolved("clipboard", &arguments), ["clipboard/"]);
        assert_eq!(resolved("odd:{path", &arguments), ["odd:{path/"]);
    }

    #[test]
    fn array_argument_gives_a_resource_per_item() {
        let arguments = json!({ "paths": ["a", "b"], "users": [1, 2], "none": [] });
        assert_eq!(resolved("file:{paths}", &arguments), ["file:a/", "file:b/"]);
        assert_eq!(resolved("{users}:{paths}", &arguments), ["1:a/", "1:b/", "2:a/", "2:b/"]);
        assert!(resolved("file:{none}", &arguments).is_empty());
        let many: Vec<u32> = (0..100).collect();
        assert_eq!(resolved("row:{many}", &json!({ "many": many })), ["row:"], "too many are everything");
    }

    #[test]
    fn unknown_argument_widens_the_resource_to_its_prefix() {
        for arguments in [json!({}), json!({ "path": null }), json!({ "path": {} }), json!({ "path": [[]] })]
        {
            assert_eq!(resolved("file:{path}", &arguments), ["file:"], "{arguments}");
            assert_eq!(resolved("file:data/x{path}/y", &arguments), ["file:data/x"]);
        }
        let open = &resources("file:data/x{path}/y", &|_| None, None)[0];
        let of = |text: &str| Resource::new(text, true, None);
        assert!(open.overlaps(&of("file:data/xyz")) && open.overlaps(&of("file:data")));
        assert!(!open.overlaps(&of("file:data/y")) && !open.overlaps(&of("row:data/x")));
    }

    #[test]
    fn resource_covers_its_descendants_but_not_its_siblings() {
        assert!(overlap("file:src", "file:src"));
        assert!(overlap("file:src", "file:src/lib.rs"));
        assert!(overlap("file:/", "file:/etc"));
        assert!(overlap("file:.", "file:src"));
        assert!(!overlap("file:src", "file:srcs"));
        assert!(!overlap("file:src/a", "file:src/b"));
        assert!(!overlap("file:src", "row:src"));
    }

    #[test]
    fn equivalent_paths_are_one_resource() {
        for same in ["file:./a/b", "file:a//b", "file:a/./b/", "file:x/../a/b", "file:a/b/c/.."] {
            assert_eq!(Resource::new(same, true, None).0, "file:a/b/", "{same}");
        }
        assert_eq!(Resource::new("file:/../a", true, None).0, "file:/a/");
        assert_eq!(Resource::new("file:../../a", true, None).0, "file:../../a/");
    }

    #[test]
    fn relative_paths_resolve_against_the_work_directory() {
        let directory = Some(Path::new("/base"));
        let of = |text: &str, whole| Resource::new(text, whole, directory).0;
        assert_eq!(of("file:a", true), "file:/base/a/");
        assert_eq!(of("file:/base/a", true), "file:/base/a/");
        assert_eq!(of("file:../a", true), "file:/a/");
        assert_eq!(of("file:", false), "file:", "an unknown path may be absolute");
        assert_eq!(of("file:a/x", false), "file:/base/a/x");
        assert_eq!(of("row:a", true), "row:a/", "not a file");
    }

    #[test]
    fn readers_do_not_conflict_but_writers_do() {
        let read = Footprint::new(false, &["a"], &[]);
        let write = Footprint::new(false, &[], &["a"]);
        let elsewhere = Footprint::new(false, &["b"], &["c"]);
        assert!(!read.conflicts(&read));
        assert!(read.conflicts(&write) && write.conflicts(&read) && write.conflicts(&write));
        assert!(!elsewhere.conflicts(&write) && !Footprint::NONE.conflicts(&write));
        assert!(Footprint::NONE.is_empty() && !read.is_empty());
    }
}
