//! Compares two surfaces.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::named::{NamedSchema, Reached, missing, reached, same};
use super::{Entry, Surface};
use crate::base::frozen::Text;
use crate::schema::shape::pointer::child;
use crate::spec::Network;
use crate::spec::drift::keyword_change::Side;
use crate::spec::drift::{BeforeAfter, Change, ChangeClass, NamedSchemas, ToolChanges, members};
use crate::spec::hosts::{beyond, describe_hosts};
use crate::spec::mcp::lint::suspicions;

/// A named schema before and after.
type Pair<'s> = (&'s Arc<NamedSchema>, &'s Arc<NamedSchema>);

pub(super) fn drift(old: &Surface, new: &Surface) -> Vec<Change> {
    let names: BTreeSet<&String> = old.tools.keys().chain(new.tools.keys()).collect();
    let mut changes = Vec::new();
    let mut shared = Shared::default();
    for name in names {
        let mut found = ToolChanges::new(&[]);
        match (old.tools.get(name), new.tools.get(name)) {
            (Some(old), Some(new)) => {
                found.names(named(&old.named_schemas), named(&new.named_schemas));
                tool(&mut found, old, new);
                shared.add(name, old, new);
            }
            (Some(gone), None) => {
                let now =
                    new.tools.iter().find(|(name, new)| !old.tools.contains_key(*name) && alike(gone, new));
                let message = match now {
                    Some((now, _)) => format!("the tool is now called `{now}`"),
                    None => "the tool no longer exists".to_owned(),
                };
                found.add("", ChangeClass::Breaking, message);
            }
            (None, Some(added)) => {
                found.add("", ChangeClass::Added, "the tool is new");
                suspicious(&mut found, added);
            }
            (None, None) => {}
        }
        changes.extend(found.of_tool(name));
    }
    shared.compare(&mut changes);
    toolsets(old, new, &mut changes);
    changes
}

fn named(reached: &Reached) -> NamedSchemas<'_> {
    reached.iter().map(|(name, one)| (name.as_str(), &one.schema)).collect()
}

/// Whether two tools differ only in their names.
fn alike(left: &Entry, right: &Entry) -> bool {
    let named = |entry: &Entry| entry.named_schemas.len();
    left.tool == right.tool
        && named(left) == named(right)
        && left
            .named_schemas
            .iter()
            .all(|(name, one)| right.named_schemas.get(name).is_some_and(|other| same(one, other)))
}

/// Reports suspicious strings of a new tool.
fn suspicious(found: &mut ToolChanges<'_>, entry: &Entry) {
    let schemas = entry.named_schemas.iter().map(|(name, one)| (child("/$defs", name), &one.schema));
    for (at, value) in std::iter::once((String::new(), &entry.tool)).chain(schemas) {
        for one in suspicions(value, &[]) {
            found.add(
                &format!("{at}{}", one.pointer),
                ChangeClass::Security,
                format!("the text {}", one.message),
            );
        }
    }
}

/// Compares two tools with the same name, without their named schemas.
fn tool(found: &mut ToolChanges<'_>, old: &Entry, new: &Entry) {
    let changed = members(&old.tool, &new.tool);
    let missing = |entry: &Entry| missing(&entry.tool, &entry.named_schemas);
    for gone in missing(new).difference(&missing(old)) {
        found.add(
            &child("/$defs", gone),
            ChangeClass::Breaking,
            format!("the schema `{gone}` is referenced, but missing"),
        );
    }
    for back in missing(old).difference(&missing(new)) {
        found.add(&child("/$defs", back), ChangeClass::Breaking, format!("the schema `{back}` was missing"));
    }
    for (key, given) in &changed {
        let (at, given) = (child("", key), *given);
        match *key {
            "description" | "label" | "returns" | "use_for" | "documentation" | "examples" => {
                found.text(&at, given);
            }
            "input" => found.schema(&at, given, Side::Input),
            "output" => found.output(&at, given),
            "effects" => effects(found, given),
            "scopes" => scopes(found, &old.tool, &new.tool),
            "requires" => requires(found, given),
            "timeout" => timeout(found, given),
            "call" => compare(found, given),
            "exclusive" | "service" | "reads" | "writes" => {
                let reason = "it only affects which calls run concurrently, or how failures are counted";
                found.changed_as(&at, (ChangeClass::Compatible, reason), &format!("`{key}`"), given);
            }
            "category" | "deprecated" | "exact" | "result_limit" | "slim"
                if !found.suspicious(&at, given) =>
            {
                found.changed(&at, ChangeClass::Model, &format!("`{key}`"), given);
            }
            "category" | "deprecated" | "exact" | "result_limit" | "slim" => {}
            "completion" | "sub_agent" => {
                let reason = "the agent continues where it stopped before, or stops where it continued";
                found.changed_as(&at, (ChangeClass::Breaking, reason), &format!("`{key}`"), given);
            }
            _ => found.unknown(&at, given),
        }
    }
}

/// Compares effects. A person has to allow new effects of a tool.
fn effects(found: &mut ToolChanges<'_>, (old, new): BeforeAfter<'_>) {
    let nothing = Value::Null;
    for (key, given) in members(old.unwrap_or(&nothing), new.unwrap_or(&nothing)) {
        let at = format!("/effects/{key}");
        let flags = given.0.and_then(Value::as_bool).zip(given.1.and_then(Value::as_bool));
        let mut what = format!("`{key}`");
        let worse = match key {
            "read_only" | "idempotent" => flags.map(|(_, now)| !now),
            "destructive" | "open_world" | "spawns" => flags.map(|(_, now)| now),
            "files" => files(given.0).zip(files(given.1)).map(|(was, now)| now > was),
            "network" => network(given.0).zip(network(given.1)).map(|(was, now)| {
                let more = beyond(&now, &was);
                if more != Network::None {
                    what = format!("the tool may now contact {}: `network`", describe_hosts(&more));
                }
                more != Network::None
            }),
            _ => None,
        };
        match worse {
            Some(true) => found.changed(&at, ChangeClass::Security, &what, given),
            Some(false) => {
                let reason = "the tool promises more than before";
                found.changed_as(&at, (ChangeClass::Compatible, reason), &what, given);
            }
            None => found.unknown(&at, given),
        }
    }
}

/// Returns a rank of the access of a tool to files.
fn files(value: Option<&Value>) -> Option<usize> {
    let text = value?.as_str()?;
    ["none", "read", "write"].iter().position(|one| *one == text)
}

fn network(value: Option<&Value>) -> Option<Network> {
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
fn scopes(found: &mut ToolChanges<'_>, old: &Value, new: &Value) {
    let needed = |tool: &Value| -> BTreeSet<String> {
        let given = tool["scopes"].as_array().into_iter().flatten();
        let given: BTreeSet<String> = given.filter_map(Value::as_str).map(str::to_owned).collect();
        let effects = &tool["effects"];
        let reads = effects["read_only"] == true && effects["destructive"] == false;
        let default = if reads { "read" } else { "write" };
        if given.is_empty() { BTreeSet::from([default.to_owned()]) } else { given }
    };
    let (was, is) = (needed(old), needed(new));
    let before = found.changes.len();
    for gone in was.difference(&is) {
        found.add("/scopes", ChangeClass::Security, format!("callers no longer need the scope `{gone}`"));
    }
    for more in is.difference(&was) {
        found.add("/scopes", ChangeClass::Breaking, format!("callers now need the scope `{more}`"));
    }
    if found.changes.len() == before {
        found.changed(
            "/scopes",
            ChangeClass::Text,
            "the list of scopes",
            (old.get("scopes"), new.get("scopes")),
        );
    }
}

/// Compares the requirements of a call.
fn requires(found: &mut ToolChanges<'_>, (old, new): BeforeAfter<'_>) {
    const AT: &str = "/requires";
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    // Messages are only text, and the order of requirements has no effect.
    let suggestion = |value: &Value| {
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        (text("kind"), text("name"), text("argument"), value["optional"] == true)
    };
    let (was, is) = (list(old), list(new));
    let before = found.changes.len();
    let kinds = |list: &[Value]| list.iter().map(suggestion).collect::<BTreeSet<_>>();
    let (was_meant, is_meant) = (kinds(&was), kinds(&is));
    for (kind, name, _, optional) in was_meant.difference(&is_meant) {
        // The order of calls does not protect anything; a check of the caller and its state may.
        let protects = !optional && kind != "tool_called" && kind != "service";
        let class = if protects { ChangeClass::Security } else { ChangeClass::Compatible };
        found.add(AT, class, format!("a call no longer requires `{name}` ({kind})"));
    }
    for (kind, name, _, optional) in is_meant.difference(&was_meant) {
        let class = if *optional { ChangeClass::Model } else { ChangeClass::Breaking };
        found.add(AT, class, format!("a call now requires `{name}` ({kind})"));
    }
    found.suspicious(AT, (old, new));
    if found.changes.len() == before {
        found.changed(AT, ChangeClass::Text, "the message or the order of requirements", (old, new));
    }
}

/// Compares time limits; the default is 30 seconds.
fn timeout(found: &mut ToolChanges<'_>, given: BeforeAfter<'_>) {
    let millis = |value: Option<&Value>| match value {
        None => Some(30_000),
        Some(Value::String(text)) if text == "never" => Some(u64::MAX),
        Some(value) => value.as_str()?.strip_suffix(" ms")?.parse().ok(),
    };
    let class = match (millis(given.0), millis(given.1)) {
        (Some(was), Some(now)) if now < was => (ChangeClass::Breaking, "calls that took longer fail now"),
        (Some(_), Some(_)) => (ChangeClass::Compatible, ChangeClass::Compatible.meaning()),
        _ => return found.unknown("/timeout", given),
    };
    found.changed_as("/timeout", class, "the time limit", given);
}

fn toolsets(old: &Surface, new: &Surface, changes: &mut Vec<Change>) {
    let names: BTreeSet<&String> = old.toolsets.keys().chain(new.toolsets.keys()).collect();
    let mut found = ToolChanges::new(&[]);
    for name in names {
        let at = child("/toolsets", name);
        match (old.toolsets.get(name), new.toolsets.get(name)) {
            (Some(was), Some(is)) => {
                for member in was.iter().filter(|member| !is.contains(member)) {
                    found.add(
                        &at,
                        ChangeClass::Model,
                        format!("`{member}` is no longer in the set `{name}`"),
                    );
                }
                for member in is.iter().filter(|member| !was.contains(member)) {
                    found.add(&at, ChangeClass::Model, format!("`{member}` is now in the set `{name}`"));
                }
            }
            (Some(_), None) => {
                found.add(&at, ChangeClass::Breaking, format!("the set `{name}` no longer exists"));
            }
            _ => found.add(&at, ChangeClass::Added, format!("the set `{name}` is new")),
        }
    }
    changes.extend(found.of_tool(""));
}

/// The named schemas that changed, each with the tools that use it, and whether they use it in arguments or results.
#[derive(Default)]
struct Shared<'s> {
    /// By name, and by the numbers of both schemas.
    found: BTreeMap<(&'s str, usize, usize), Use<'s>>,
    /// The numbers of schemas: equal schemas have the same number.
    numbers: BTreeMap<String, usize>,
    /// The numbers by address.
    index_by_address: BTreeMap<usize, usize>,
}

/// The users of a named schema that changed.
struct Use<'s> {
    pair: Pair<'s>,
    tools: Vec<&'s str>,
    /// The first of the tools, before and after.
    entries: (&'s Entry, &'s Entry),
    input: bool,
    output: bool,
}

impl<'s> Shared<'s> {
    /// Adds the named schemas of a tool that is in both surfaces.
    fn add(&mut self, tool: &'s str, old: &'s Entry, new: &'s Entry) {
        let mut changed: Vec<((&str, usize, usize), Pair<'s>)> = Vec::new();
        for (name, was) in &old.named_schemas {
            let Some(is) = new.named_schemas.get(name) else { continue };
            let key = (name.as_str(), self.number(was), self.number(is));
            if key.1 != key.2 {
                changed.push((key, (was, is)));
            }
        }
        if changed.is_empty() {
            return;
        }
        let of = |entry: &Entry, key: &str| {
            reached(entry.tool.get(key).unwrap_or(&Value::Null), &entry.named_schemas)
                .into_keys()
                .collect::<BTreeSet<_>>()
        };
        let both = |key: &str| of(old, key).into_iter().chain(of(new, key)).collect::<BTreeSet<_>>();
        let (input, output) = (both("input"), both("output"));
        for (key, pair) in changed {
            let name = key.0;
            let entry = Use { pair, tools: Vec::new(), entries: (old, new), input: false, output: false };
            let used = self.found.entry(key).or_insert(entry);
            used.tools.push(tool);
            used.input |= input.contains(name);
            used.output |= output.contains(name);
        }
    }

    fn number(&mut self, one: &Arc<NamedSchema>) -> usize {
        let Shared { numbers, index_by_address: known, .. } = self;
        *known.entry(Arc::as_ptr(one).addr()).or_insert_with(|| {
            let next = numbers.len();
            *numbers.entry(one.schema.to_string()).or_insert(next)
        })
    }

    /// Compares each pair once.
    fn compare(self, changes: &mut Vec<Change>) {
        for ((name, ..), Use { pair: (was, is), tools, entries, input, output }) in self.found {
            let side = match (input, output) {
                (true, false) => Side::Input,
                (false, true) => Side::Output,
                _ => Side::Either,
            };
            let mut found = ToolChanges::new(&[]);
            found.names(named(&entries.0.named_schemas), named(&entries.1.named_schemas));
            found.schema(&child("/$defs", name), (Some(&was.schema), Some(&is.schema)), side);
            let (first, all) = match tools.as_slice() {
                [only] => (*only, Vec::new()),
                several => ("", several.iter().map(|tool| (*tool).to_owned()).collect()),
            };
            changes.extend(found.of_tool(first).map(|change| Change { tools: all.clone(), ..change }));
        }
    }
}

const ELSEWHERE: &str = "arguments and credentials are sent to another destination";
const OTHERWISE: &str = "the same call does something else";

/// Compares two recorded calls. A call that is not recorded on both sides is not compared: a program does not know how
/// all of its tools are executed.
fn compare(found: &mut ToolChanges<'_>, (old, new): BeforeAfter<'_>) {
    let (Some(old), Some(new)) = (old, new) else { return };
    let one =
        |call: &Value| call.as_object().and_then(|call| call.iter().next()).map(|(kind, _)| kind.clone());
    let (was, is) = (one(old).unwrap_or_default(), one(new).unwrap_or_default());
    if was != is {
        let message = format!("the tool was executed as `{was}`, and is now executed as `{is}`");
        return found.add("/call", ChangeClass::Security, message);
    }
    let nothing = Value::Null;
    let (old, new) = (old.get(&was).unwrap_or(&nothing), new.get(&was).unwrap_or(&nothing));
    for (key, given) in members(old, new) {
        let at = child(&format!("/call/{was}"), key);
        let class = class(&was, key, given);
        found.changed_as(&at, class, &format!("`{key}`"), given);
    }
}

/// Returns the class of a change to a member of a call, and the reason.
fn class(kind: &str, key: &str, (old, new): BeforeAfter<'_>) -> (ChangeClass, &'static str) {
    let writes = !matches!(new.and_then(Value::as_str), Some("GET" | "HEAD" | "OPTIONS" | "QUERY" | "TRACE"));
    match (kind, key) {
        ("http", "method") if writes => (ChangeClass::Security, "a method that changes data is used"),
        ("http", "servers") if !hosts(new).is_subset(&hosts(old)) => (ChangeClass::Security, ELSEWHERE),
        ("http", "auth") => (ChangeClass::Security, "other credentials are sent, or sent elsewhere"),
        ("http", "idempotency_key") => (ChangeClass::Compatible, "requests are retried in other cases"),
        ("http", "pages") => (ChangeClass::Breaking, "lists are paginated in another way"),
        ("mcp", "server") => (ChangeClass::Security, ELSEWHERE),
        ("command", "output" | "exit_codes" | "stream") => (ChangeClass::Breaking, OTHERWISE),
        ("command", _) => (ChangeClass::Security, "another program runs, or gets other input"),
        ("compose", "steps") if !tools(new).is_subset(&tools(old)) => {
            (ChangeClass::Security, "a tool is called that was not called before")
        }
        ("agent", "tools") if !texts(new).is_subset(&texts(old)) => {
            (ChangeClass::Security, "the agent has tools that it did not have before")
        }
        ("agent", _) => (ChangeClass::Model, "the agent answers differently"),
        _ => (ChangeClass::Breaking, OTHERWISE),
    }
}

fn texts(list: Option<&Value>) -> BTreeSet<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the origins of URLs. A relative URL has no origin.
fn hosts(urls: Option<&Value>) -> BTreeSet<String> {
    let origin = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        Some(format!("{scheme}://{}", rest.split(['/', '?', '#', '\\']).next()?).to_ascii_lowercase())
    };
    texts(urls).into_iter().filter_map(origin).collect()
}

/// Returns the tools that steps call.
fn tools(steps: Option<&Value>) -> BTreeSet<&str> {
    let steps = steps.and_then(Value::as_array).into_iter().flatten();
    steps.filter_map(|step| step.get("tool")?.as_str()).collect()
}
