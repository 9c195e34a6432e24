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

/// The maximum number of resources of a template. If there are more, the footprint covers everything with their common
/// prefix.
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

/// A resource, as a string that is a prefix of all resources that it covers. Each level ends with `/`. Without a `/`
/// at its end, the resource covers everything that starts with the string.
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

    /// Returns the footprint of a call of a tool of the toolbox. A call that will not run has no conflicts.
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
        let tools = spec.requires.iter().filter(|requirement| requirement.kind == RequirementKind::Tool);
        let requires = tools.map(|requirement| requirement.name.clone()).collect();
        let without_resources =
            Footprint { exclusive: spec.exclusive, tool: spec.name.to_text(), requires, ..Footprint::NONE };
        if spec.reads.is_empty() && spec.writes.is_empty() {
            return without_resources;
        }
        let Ok(parsed) = parsed(arguments.clone()) else { return without_resources };
        let Ok(decoded) = decoded(spec, parsed.clone(), dialect) else { return without_resources };
        // Templates use the names of the schema; decoded arguments have wire names.
        let argument = |name: &str| {
            let value = decoded.get(name).or_else(|| parsed.get(name)).map(Cow::Borrowed);
            value.or_else(|| Some(Cow::Owned(default(spec, name)?)))
        };
        let resolve = |templates: &[Text]| {
            let resources = templates.iter().flat_map(|template| resources(template, &argument, directory));
            resources.collect::<Vec<_>>()
        };
        Footprint { reads: resolve(&spec.reads), writes: resolve(&spec.writes), ..without_resources }
    }

    pub(super) fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    pub(super) fn tool(&self) -> &Text {
        &self.tool
    }

    /// Returns the tools whose earlier calls must finish first.
    pub(super) fn requires(&self) -> &[Text] {
        &self.requires
    }

    /// Whether the call declares no resources.
    pub(super) fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// Whether the calls must not overlap because of their resources.
    pub(super) fn conflicts(&self, other: &Footprint) -> bool {
        let has_conflicting_write = |writer: &Footprint, other: &Footprint| {
            writer
                .writes
                .iter()
                .any(|write| other.reads.iter().chain(&other.writes).any(|resource| write.overlaps(resource)))
        };
        has_conflicting_write(self, other) || has_conflicting_write(other, self)
    }

    /// Creates a footprint for tests without tools.
    #[cfg(test)]
    pub(super) fn new(exclusive: bool, reads: &[&str], writes: &[&str]) -> Footprint {
        let resources = |texts: &[&str]| texts.iter().map(|text| Resource::new(text, true, None)).collect();
        Footprint { exclusive, reads: resources(reads), writes: resources(writes), ..Footprint::NONE }
    }
}

impl Resource {
    /// Creates a resource from a string, which is complete unless an unknown part follows.
    fn new(text: &str, is_complete: bool, directory: Option<&Path>) -> Resource {
        let scheme = text
            .find([':', '/'])
            .filter(|index| text[*index..].starts_with(':'))
            .map_or(0, |index| index + 1);
        let (scheme, mut path) = text.split_at(scheme);
        let joined;
        // An unknown path may be absolute.
        if let Some(directory) = directory
            && scheme == "file:"
            && !path.starts_with('/')
            && (is_complete || !path.is_empty())
        {
            joined = format!("{}/{path}", directory.display());
            path = &joined;
        }
        // The last level is only partially known.
        let (path, last) = if is_complete {
            (path, "")
        } else {
            path.split_at(path.rfind('/').map_or(0, |index| index + 1))
        };
        let is_absolute = path.starts_with('/');
        let mut levels: Vec<&str> = Vec::new();
        for level in path.split('/') {
            match level {
                "" | "." => {}
                ".." if levels.last().is_some_and(|last| *last != "..") => drop(levels.pop()),
                ".." if is_absolute => {}
                level => levels.push(level),
            }
        }
        let mut out = String::with_capacity(text.len() + 2);
        out.push_str(scheme);
        if is_absolute {
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

/// Returns the resources of a template: a single resource, unless an argument is an array.
fn resources<'a>(
    template: &str,
    argument: &impl Fn(&str) -> Option<Cow<'a, Value>>,
    directory: Option<&Path>,
) -> Vec<Resource> {
    let mut texts = vec![String::new()];
    let mut remaining = template;
    let mut is_complete = true;
    while let Some((literal, name, after)) = next_argument(remaining) {
        texts.iter_mut().for_each(|text| text.push_str(literal));
        match argument(name).and_then(|value| values(&value)) {
            Some(values) if texts.len() * values.len() <= MAX_RESOURCES => {
                texts = texts
                    .iter()
                    .flat_map(|text| values.iter().map(move |value| format!("{text}{value}")))
                    .collect();
            }
            _ => {
                is_complete = false;
                break;
            }
        }
        remaining = after;
    }
    if is_complete {
        texts.iter_mut().for_each(|text| text.push_str(remaining));
    }
    texts.iter().map(|text| Resource::new(text, is_complete, directory)).collect()
}

/// Returns the default of an argument, if the schema has one.
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

/// Returns the strings that replace an argument, or `None` if its value cannot name a resource.
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
            .map(|resource| resource.0)
            .collect()
    }

    fn overlap(left: &str, right: &str) -> bool {
        let (left, right) = (Resource::new(left, true, None), Resource::new(right, true, None));
        assert_eq!(left.overlaps(&right), right.overlaps(&left));
        left.overlaps(&right)
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
        assert_eq!(
            resolved("row:{many}", &json!({ "many": many })),
            ["row:"],
            "more than the maximum widen to the prefix"
        );
    }

    #[test]
    fn unknown_argument_widens_the_resource_to_its_prefix() {
        for arguments in [json!({}), json!({ "path": null }), json!({ "path": {} }), json!({ "path": [[]] })]
        {
            assert_eq!(resolved("file:{path}", &arguments), ["file:"], "{arguments}");
            assert_eq!(resolved("file:data/x{path}/y", &arguments), ["file:data/x"]);
        }
        let widened = &resources("file:data/x{path}/y", &|_| None, None)[0];
        let overlaps = |text: &str| widened.overlaps(&Resource::new(text, true, None));
        assert!(overlaps("file:data/xyz") && overlaps("file:data"));
        assert!(!overlaps("file:data/y") && !overlaps("row:data/x"));
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
    fn equivalent_paths_are_the_same_resource() {
        for path in ["file:./a/b", "file:a//b", "file:a/./b/", "file:x/../a/b", "file:a/b/c/.."] {
            assert_eq!(Resource::new(path, true, None).0, "file:a/b/", "{path}");
        }
        assert_eq!(Resource::new("file:/../a", true, None).0, "file:/a/");
        assert_eq!(Resource::new("file:../../a", true, None).0, "file:../../a/");
    }

    #[test]
    fn relative_paths_resolve_against_the_work_directory() {
        let directory = Some(Path::new("/base"));
        let resolve = |text: &str, is_complete| Resource::new(text, is_complete, directory).0;
        assert_eq!(resolve("file:a", true), "file:/base/a/");
        assert_eq!(resolve("file:/base/a", true), "file:/base/a/");
        assert_eq!(resolve("file:../a", true), "file:/a/");
        assert_eq!(resolve("file:", false), "file:", "an unknown path may be absolute");
        assert_eq!(resolve("file:a/x", false), "file:/base/a/x");
        assert_eq!(resolve("row:a", true), "row:a/", "not a file");
    }

    #[test]
    fn readers_do_not_conflict_but_writers_do() {
        let read = Footprint::new(false, &["a"], &[]);
        let write = Footprint::new(false, &[], &["a"]);
        let unrelated = Footprint::new(false, &["b"], &["c"]);
        assert!(!read.conflicts(&read));
        assert!(read.conflicts(&write) && write.conflicts(&read) && write.conflicts(&write));
        assert!(!unrelated.conflicts(&write) && !Footprint::NONE.conflicts(&write));
        assert!(Footprint::NONE.is_empty() && !read.is_empty());
    }
}
