//! Compares two surfaces.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::named::{self, NamedSchema, is_same, missing_names, reachable_schemas};
use super::{Entry, Surface};
use crate::base::frozen::Text;
use crate::schema::shape::pointer::child;
use crate::spec::Network;
use crate::spec::drift::keyword_change::Side;
use crate::spec::drift::{BeforeAfter, Change, ChangeClass, NamedSchemas, ToolChanges, changed_members};
use crate::spec::hosts::{describe_hosts, not_covered};
use crate::spec::mcp::lint::suspicions;

/// A named schema before and after.
type Pair<'s> = (&'s Arc<NamedSchema>, &'s Arc<NamedSchema>);

pub(super) fn drift(old: &Surface, new: &Surface) -> Vec<Change> {
    let names: BTreeSet<&String> = old.tools.keys().chain(new.tools.keys()).collect();
    let mut changes = Vec::new();
    let mut shared = ChangedSchemas::default();
    for name in names {
        let mut tool_changes = ToolChanges::new(&[]);
        match (old.tools.get(name), new.tools.get(name)) {
            (Some(old), Some(new)) => {
                tool_changes.set_named_schemas(
                    schemas_by_name(&old.named_schemas),
                    schemas_by_name(&new.named_schemas),
                );
                compare_tools(&mut tool_changes, old, new);
                shared.add(name, old, new);
            }
            (Some(removed), None) => {
                let new_name = new
                    .tools
                    .iter()
                    .find(|(name, new)| !old.tools.contains_key(*name) && is_renamed(removed, new));
                let message = match new_name {
                    Some((new_name, _)) => format!("the tool is now called `{new_name}`"),
                    None => "the tool no longer exists".to_owned(),
                };
                tool_changes.add("", ChangeClass::Breaking, message);
            }
            (None, Some(added)) => {
                tool_changes.add("", ChangeClass::Added, "the tool is new");
                report_suspicious(&mut tool_changes, added);
            }
            (None, None) => {}
        }
        changes.extend(tool_changes.into_changes(name));
    }
    shared.compare(&mut changes);
    compare_toolsets(old, new, &mut changes);
    changes
}

fn schemas_by_name(schemas: &named::NamedSchemas) -> NamedSchemas<'_> {
    schemas.iter().map(|(name, named)| (name.as_str(), &named.schema)).collect()
}

/// Whether two tools differ only in their names.
fn is_renamed(left: &Entry, right: &Entry) -> bool {
    let schema_count = |entry: &Entry| entry.named_schemas.len();
    left.tool == right.tool
        && schema_count(left) == schema_count(right)
        && left
            .named_schemas
            .iter()
            .all(|(name, schema)| right.named_schemas.get(name).is_some_and(|other| is_same(schema, other)))
}

/// Reports suspicious strings of a new tool.
fn report_suspicious(changes: &mut ToolChanges<'_>, entry: &Entry) {
    let schemas = entry.named_schemas.iter().map(|(name, named)| (child("/$defs", name), &named.schema));
    for (pointer, value) in std::iter::once((String::new(), &entry.tool)).chain(schemas) {
        for suspicion in suspicions(value, &[]) {
            changes.add(
                &format!("{pointer}{}", suspicion.pointer),
                ChangeClass::Security,
                format!("the text {}", suspicion.message),
            );
        }
    }
}

/// Compares two tools with the same name, without their named schemas.
fn compare_tools(changes: &mut ToolChanges<'_>, old: &Entry, new: &Entry) {
    let changed_members = changed_members(&old.tool, &new.tool);
    let missing = |entry: &Entry| missing_names(&entry.tool, &entry.named_schemas);
    for name in missing(new).difference(&missing(old)) {
        changes.add(
            &child("/$defs", name),
            ChangeClass::Breaking,
            format!("the schema `{name}` is referenced, but missing"),
        );
    }
    for name in missing(old).difference(&missing(new)) {
        changes.add(
            &child("/$defs", name),
            ChangeClass::Breaking,
            format!("the schema `{name}` was missing"),
        );
    }
    for (key, values) in &changed_members {
        let (pointer, values) = (child("", key), *values);
        match *key {
            "description" | "label" | "returns" | "use_for" | "documentation" | "examples" => {
                changes.add_text_change(&pointer, values);
            }
            "input" => changes.compare_schemas(&pointer, values, Side::Input),
            "output" => changes.compare_outputs(&pointer, values),
            "effects" => compare_effects(changes, values),
            "scopes" => compare_scopes(changes, &old.tool, &new.tool),
            "requires" => compare_requirements(changes, values),
            "timeout" => compare_timeouts(changes, values),
            "call" => compare_calls(changes, values),
            "exclusive" | "service" | "reads" | "writes" => {
                let reason = "it only affects which calls run concurrently, or how failures are counted";
                changes.add_with_reason(
                    &pointer,
                    (ChangeClass::Compatible, reason),
                    &format!("`{key}`"),
                    values,
                );
            }
            "category" | "deprecated" | "exact" | "hints" | "projection" | "result_limit" | "slim"
                if !changes.report_suspicious(&pointer, values) =>
            {
                changes.add_value_change(&pointer, ChangeClass::Model, &format!("`{key}`"), values);
            }
            "category" | "deprecated" | "exact" | "hints" | "projection" | "result_limit" | "slim" => {}
            "completion" | "sub_agent" => {
                let reason = "the agent continues where it stopped before, or stops where it continued";
                changes.add_with_reason(
                    &pointer,
                    (ChangeClass::Breaking, reason),
                    &format!("`{key}`"),
                    values,
                );
            }
            _ => changes.add_unknown(&pointer, values),
        }
    }
}

/// Compares effects. A person has to allow new effects of a tool.
fn compare_effects(changes: &mut ToolChanges<'_>, (old, new): BeforeAfter<'_>) {
    let null = Value::Null;
    for (key, values) in changed_members(old.unwrap_or(&null), new.unwrap_or(&null)) {
        let pointer = format!("/effects/{key}");
        let flags = values.0.and_then(Value::as_bool).zip(values.1.and_then(Value::as_bool));
        let mut subject = format!("`{key}`");
        let is_worse = match key {
            "read_only" | "idempotent" => flags.map(|(_, new)| !new),
            "destructive" | "open_world" | "spawns" => flags.map(|(_, new)| new),
            "files" => file_rank(values.0).zip(file_rank(values.1)).map(|(old, new)| new > old),
            "network" => parse_network(values.0).zip(parse_network(values.1)).map(|(old, new)| {
                let new_hosts = not_covered(&new, &old);
                if new_hosts != Network::None {
                    subject = format!("the tool may now contact {}: `network`", describe_hosts(&new_hosts));
                }
                new_hosts != Network::None
            }),
            _ => None,
        };
        match is_worse {
            Some(true) => changes.add_value_change(&pointer, ChangeClass::Security, &subject, values),
            Some(false) => {
                let reason = "the tool promises more than before";
                changes.add_with_reason(&pointer, (ChangeClass::Compatible, reason), &subject, values);
            }
            None => changes.add_unknown(&pointer, values),
        }
    }
}

/// Returns a rank of the access of a tool to files.
fn file_rank(value: Option<&Value>) -> Option<usize> {
    let text = value?.as_str()?;
    ["none", "read", "write"].iter().position(|name| *name == text)
}

fn parse_network(value: Option<&Value>) -> Option<Network> {
    match value? {
        Value::String(text) if text == "none" => Some(Network::None),
        Value::String(text) if text == "any" => Some(Network::Any),
        Value::Array(hosts) => {
            let hosts: Option<Vec<Text>> =
                hosts.iter().map(|host| host.as_str().map(Text::copy_of)).collect();
            hosts.map(|hosts| Network::Hosts(hosts.into()))
        }
        _ => None,
    }
}

/// Compares the scopes that a caller needs; the default is `read` or `write`.
fn compare_scopes(changes: &mut ToolChanges<'_>, old: &Value, new: &Value) {
    let required = |tool: &Value| -> BTreeSet<String> {
        let declared = tool["scopes"].as_array().into_iter().flatten();
        let declared: BTreeSet<String> = declared.filter_map(Value::as_str).map(str::to_owned).collect();
        let effects = &tool["effects"];
        let is_read_only = effects["read_only"] == true && effects["destructive"] == false;
        let default = if is_read_only { "read" } else { "write" };
        if declared.is_empty() { BTreeSet::from([default.to_owned()]) } else { declared }
    };
    let (old_scopes, new_scopes) = (required(old), required(new));
    let old_count = changes.changes.len();
    for removed in old_scopes.difference(&new_scopes) {
        changes.add(
            "/scopes",
            ChangeClass::Security,
            format!("callers no longer need the scope `{removed}`"),
        );
    }
    for added in new_scopes.difference(&old_scopes) {
        changes.add("/scopes", ChangeClass::Breaking, format!("callers now need the scope `{added}`"));
    }
    if changes.changes.len() == old_count {
        changes.add_value_change(
            "/scopes",
            ChangeClass::Text,
            "the list of scopes",
            (old.get("scopes"), new.get("scopes")),
        );
    }
}

/// Compares the requirements of a call.
fn compare_requirements(changes: &mut ToolChanges<'_>, (old, new): BeforeAfter<'_>) {
    const POINTER: &str = "/requires";
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    // Messages are only text, and the order of requirements has no effect.
    let key = |value: &Value| {
        let text = |member: &str| value[member].as_str().unwrap_or_default().to_owned();
        (text("kind"), text("name"), text("argument"), value["optional"] == true)
    };
    let (old_list, new_list) = (list(old), list(new));
    let old_count = changes.changes.len();
    let keys = |list: &[Value]| list.iter().map(key).collect::<BTreeSet<_>>();
    let (old_keys, new_keys) = (keys(&old_list), keys(&new_list));
    for (kind, name, _, optional) in old_keys.difference(&new_keys) {
        // The order of calls does not protect anything; a check of the caller and its state may.
        let is_protective = !optional && kind != "tool_called" && kind != "service";
        let class = if is_protective { ChangeClass::Security } else { ChangeClass::Compatible };
        changes.add(POINTER, class, format!("a call no longer requires `{name}` ({kind})"));
    }
    for (kind, name, _, optional) in new_keys.difference(&old_keys) {
        let class = if *optional { ChangeClass::Model } else { ChangeClass::Breaking };
        changes.add(POINTER, class, format!("a call now requires `{name}` ({kind})"));
    }
    changes.report_suspicious(POINTER, (old, new));
    if changes.changes.len() == old_count {
        changes.add_value_change(
            POINTER,
            ChangeClass::Text,
            "the message or the order of requirements",
            (old, new),
        );
    }
}

/// Compares time limits; the default is 30 seconds.
fn compare_timeouts(changes: &mut ToolChanges<'_>, values: BeforeAfter<'_>) {
    let millis = |value: Option<&Value>| match value {
        None => Some(30_000),
        Some(Value::String(text)) if text == "never" => Some(u64::MAX),
        Some(value) => value.as_str()?.strip_suffix(" ms")?.parse().ok(),
    };
    let class = match (millis(values.0), millis(values.1)) {
        (Some(old), Some(new)) if new < old => (ChangeClass::Breaking, "calls that took longer fail now"),
        (Some(_), Some(_)) => (ChangeClass::Compatible, ChangeClass::Compatible.meaning()),
        _ => return changes.add_unknown("/timeout", values),
    };
    changes.add_with_reason("/timeout", class, "the time limit", values);
}

fn compare_toolsets(old: &Surface, new: &Surface, changes: &mut Vec<Change>) {
    let names: BTreeSet<&String> = old.toolsets.keys().chain(new.toolsets.keys()).collect();
    let mut set_changes = ToolChanges::new(&[]);
    for name in names {
        let pointer = child("/toolsets", name);
        match (old.toolsets.get(name), new.toolsets.get(name)) {
            (Some(old_members), Some(new_members)) => {
                for member in old_members.iter().filter(|member| !new_members.contains(member)) {
                    set_changes.add(
                        &pointer,
                        ChangeClass::Model,
                        format!("`{member}` is no longer in the set `{name}`"),
                    );
                }
                for member in new_members.iter().filter(|member| !old_members.contains(member)) {
                    set_changes.add(
                        &pointer,
                        ChangeClass::Model,
                        format!("`{member}` is now in the set `{name}`"),
                    );
                }
            }
            (Some(_), None) => {
                set_changes.add(
                    &pointer,
                    ChangeClass::Breaking,
                    format!("the set `{name}` no longer exists"),
                );
            }
            _ => set_changes.add(&pointer, ChangeClass::Added, format!("the set `{name}` is new")),
        }
    }
    changes.extend(set_changes.into_changes(""));
}

/// The named schemas that changed, each with the tools that use it, and whether they use it in arguments or results.
#[derive(Default)]
struct ChangedSchemas<'s> {
    /// By name, and by the numbers of both schemas.
    changed: BTreeMap<(&'s str, usize, usize), SchemaUse<'s>>,
    /// The numbers of schemas: equal schemas have the same number.
    numbers: BTreeMap<String, usize>,
    /// The numbers of schemas, by address.
    numbers_by_address: BTreeMap<usize, usize>,
}

/// The users of a named schema that changed.
struct SchemaUse<'s> {
    pair: Pair<'s>,
    tools: Vec<&'s str>,
    /// The first of the tools, before and after.
    entries: (&'s Entry, &'s Entry),
    input: bool,
    output: bool,
}

impl<'s> ChangedSchemas<'s> {
    /// Adds the named schemas of a tool that is in both surfaces.
    fn add(&mut self, tool: &'s str, old: &'s Entry, new: &'s Entry) {
        let mut changed: Vec<((&str, usize, usize), Pair<'s>)> = Vec::new();
        for (name, old_schema) in &old.named_schemas {
            let Some(new_schema) = new.named_schemas.get(name) else { continue };
            let key = (name.as_str(), self.number_of(old_schema), self.number_of(new_schema));
            if key.1 != key.2 {
                changed.push((key, (old_schema, new_schema)));
            }
        }
        if changed.is_empty() {
            return;
        }
        let reachable_names = |entry: &Entry, key: &str| {
            reachable_schemas(entry.tool.get(key).unwrap_or(&Value::Null), &entry.named_schemas)
                .into_keys()
                .collect::<BTreeSet<_>>()
        };
        let used_by_either = |key: &str| {
            reachable_names(old, key).into_iter().chain(reachable_names(new, key)).collect::<BTreeSet<_>>()
        };
        let (input, output) = (used_by_either("input"), used_by_either("output"));
        for (key, pair) in changed {
            let name = key.0;
            let entry =
                SchemaUse { pair, tools: Vec::new(), entries: (old, new), input: false, output: false };
            let schema_use = self.changed.entry(key).or_insert(entry);
            schema_use.tools.push(tool);
            schema_use.input |= input.contains(name);
            schema_use.output |= output.contains(name);
        }
    }

    fn number_of(&mut self, schema: &Arc<NamedSchema>) -> usize {
        let ChangedSchemas { numbers, numbers_by_address, .. } = self;
        *numbers_by_address.entry(Arc::as_ptr(schema).addr()).or_insert_with(|| {
            let next = numbers.len();
            *numbers.entry(schema.schema.to_string()).or_insert(next)
        })
    }

    /// Compares each pair once.
    fn compare(self, changes: &mut Vec<Change>) {
        for ((name, ..), SchemaUse { pair: (old, new), tools, entries, input, output }) in self.changed {
            let side = match (input, output) {
                (true, false) => Side::Input,
                (false, true) => Side::Output,
                _ => Side::Either,
            };
            let mut schema_changes = ToolChanges::new(&[]);
            schema_changes.set_named_schemas(
                schemas_by_name(&entries.0.named_schemas),
                schemas_by_name(&entries.1.named_schemas),
            );
            schema_changes.compare_schemas(
                &child("/$defs", name),
                (Some(&old.schema), Some(&new.schema)),
                side,
            );
            let (first, tool_names) = match tools.as_slice() {
                [only] => (*only, Vec::new()),
                several => ("", several.iter().map(|tool| (*tool).to_owned()).collect()),
            };
            changes.extend(
                schema_changes
                    .into_changes(first)
                    .map(|change| Change { tools: tool_names.clone(), ..change }),
            );
        }
    }
}

const NEW_DESTINATION: &str = "arguments and credentials are sent to another destination";
const NEW_BEHAVIOR: &str = "the same call does something else";

/// Compares two recorded calls. A call that is not recorded on both sides is not compared: a program does not know how
/// all of its tools are executed.
fn compare_calls(changes: &mut ToolChanges<'_>, (old, new): BeforeAfter<'_>) {
    let (Some(old), Some(new)) = (old, new) else { return };
    let kind_of =
        |call: &Value| call.as_object().and_then(|call| call.iter().next()).map(|(kind, _)| kind.clone());
    let (old_kind, new_kind) = (kind_of(old).unwrap_or_default(), kind_of(new).unwrap_or_default());
    if old_kind != new_kind {
        let message = format!("the tool was executed as `{old_kind}`, and is now executed as `{new_kind}`");
        return changes.add("/call", ChangeClass::Security, message);
    }
    let null = Value::Null;
    let (old, new) = (old.get(&old_kind).unwrap_or(&null), new.get(&old_kind).unwrap_or(&null));
    for (key, values) in changed_members(old, new) {
        let pointer = child(&format!("/call/{old_kind}"), key);
        let class = classify(&old_kind, key, values);
        changes.add_with_reason(&pointer, class, &format!("`{key}`"), values);
    }
}

/// Returns the class of a change to a member of a call, and the reason.
fn classify(kind: &str, key: &str, (old, new): BeforeAfter<'_>) -> (ChangeClass, &'static str) {
    let is_write =
        !matches!(new.and_then(Value::as_str), Some("GET" | "HEAD" | "OPTIONS" | "QUERY" | "TRACE"));
    match (kind, key) {
        ("http", "method") if is_write => (ChangeClass::Security, "a method that changes data is used"),
        ("http", "servers") if !origins(new).is_subset(&origins(old)) => {
            (ChangeClass::Security, NEW_DESTINATION)
        }
        ("http", "auth") => (ChangeClass::Security, "other credentials are sent, or sent elsewhere"),
        ("http", "idempotency_key") => (ChangeClass::Compatible, "requests are retried in other cases"),
        ("http", "pages") => (ChangeClass::Breaking, "lists are paginated in another way"),
        ("mcp", "server") => (ChangeClass::Security, NEW_DESTINATION),
        ("command", "output" | "exit_codes" | "stream") => (ChangeClass::Breaking, NEW_BEHAVIOR),
        ("command", _) => (ChangeClass::Security, "another program runs, or gets other input"),
        ("compose", "steps") if !called_tools(new).is_subset(&called_tools(old)) => {
            (ChangeClass::Security, "a tool is called that was not called before")
        }
        ("agent", "tools") if !string_set(new).is_subset(&string_set(old)) => {
            (ChangeClass::Security, "the agent has tools that it did not have before")
        }
        ("agent", _) => (ChangeClass::Model, "the agent answers differently"),
        _ => (ChangeClass::Breaking, NEW_BEHAVIOR),
    }
}

fn string_set(list: Option<&Value>) -> BTreeSet<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the origins of URLs. A relative URL has no origin.
fn origins(urls: Option<&Value>) -> BTreeSet<String> {
    let origin = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        Some(format!("{scheme}://{}", rest.split(['/', '?', '#', '\\']).next()?).to_ascii_lowercase())
    };
    string_set(urls).into_iter().filter_map(origin).collect()
}

/// Returns the tools that steps call.
fn called_tools(steps: Option<&Value>) -> BTreeSet<&str> {
    let steps = steps.and_then(Value::as_array).into_iter().flatten();
    steps.filter_map(|step| step.get("tool")?.as_str()).collect()
}
