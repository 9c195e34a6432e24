//! Changes of how a tool is executed.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::schema::shape::pointer::child;
use crate::spec::drift::{Class, Found, Given, members};

const ELSEWHERE: &str = "arguments and credentials go where they did not go before";
const OTHERWISE: &str = "the same call does something else";

/// Compares two recorded calls. One that is not recorded on both sides is not compared: a program does not know how
/// all of its tools are executed.
pub(super) fn compare(found: &mut Found<'_>, (old, new): Given<'_>) {
    let (Some(old), Some(new)) = (old, new) else { return };
    let one =
        |call: &Value| call.as_object().and_then(|call| call.iter().next()).map(|(kind, _)| kind.clone());
    let (was, is) = (one(old).unwrap_or_default(), one(new).unwrap_or_default());
    if was != is {
        let message = format!("the tool was executed as `{was}`, and is as `{is}`");
        return found.add("/call", Class::Security, message);
    }
    let nothing = Value::Null;
    let (old, new) = (old.get(&was).unwrap_or(&nothing), new.get(&was).unwrap_or(&nothing));
    for (key, given) in members(old, new) {
        let at = child(&format!("/call/{was}"), key);
        let class = class(&was, key, given);
        found.changed_as(&at, class, &format!("`{key}`"), given);
    }
}

/// Returns what the change of a member of a call means, and why.
fn class(kind: &str, key: &str, (old, new): Given<'_>) -> (Class, &'static str) {
    let writes = !matches!(new.and_then(Value::as_str), Some("GET" | "HEAD" | "OPTIONS" | "QUERY" | "TRACE"));
    match (kind, key) {
        ("http", "method") if writes => (Class::Security, "a method that changes something is used"),
        ("http", "servers") if !hosts(new).is_subset(&hosts(old)) => (Class::Security, ELSEWHERE),
        ("http", "auth") => (Class::Security, "other credentials are sent, or sent elsewhere"),
        ("http", "idempotency_key") => (Class::Compatible, "requests are repeated more or less often"),
        ("http", "pages") => (Class::Breaking, "lists are read to their end in another way"),
        ("mcp", "server") => (Class::Security, ELSEWHERE),
        ("command", "output" | "exit_codes" | "stream") => (Class::Breaking, OTHERWISE),
        ("command", _) => (Class::Security, "another program runs, or gets something else"),
        ("compose", "steps") if !tools(new).is_subset(&tools(old)) => {
            (Class::Security, "a tool is called that was not called before")
        }
        ("agent", "tools") if !texts(new).is_subset(&texts(old)) => {
            (Class::Security, "the agent has tools that it did not have before")
        }
        ("agent", _) => (Class::Model, "the agent answers differently"),
        _ => (Class::Breaking, OTHERWISE),
    }
}

fn texts(list: Option<&Value>) -> BTreeSet<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the origins of URLs. A relative URL has none of its own.
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
