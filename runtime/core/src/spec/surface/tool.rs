//! Writes specifications as JSON, and parses them. Members with default values are omitted.

use serde_core::de::{Deserialize, Deserializer, Error};
use serde_core::ser::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::LockProblem;
use super::named::{self, Lists, defs, reached};
use crate::base::frozen::{List, Text};
use crate::schema::shape::Slim;
use crate::schema::shape::read::read_canonical;
use crate::schema::shape::render::canonical::value;
use crate::spec::strict_reader::Reader;
use crate::spec::{
    Completion, Effects, Example, Files, Network, Requirement, RequirementKind, Timeout, ToolName, ToolSpec,
};

/// The keys of a tool.
pub(super) const KEYS: [&str; 25] = [
    "label",
    "description",
    "returns",
    "use_for",
    "documentation",
    "deprecated",
    "category",
    "slim",
    "exact",
    "effects",
    "scopes",
    "requires",
    "timeout",
    "exclusive",
    "service",
    "reads",
    "writes",
    "result_limit",
    "completion",
    "sub_agent",
    "call",
    "examples",
    "input",
    "output",
    "$defs",
];

/// Returns a specification as an object, without its name and its named shapes.
pub(super) fn written(spec: &ToolSpec) -> Map<String, Value> {
    // All fields are listed, so that a new field does not compile until it is written and parsed.
    let ToolSpec {
        name: _,
        label,
        description,
        returns,
        use_for,
        documentation,
        examples,
        input,
        output,
        // How strictly results are validated against `output` is not part of the contract.
        output_may_differ: _,
        // The other forms in which an argument is accepted are not part of the contract.
        string_arguments: _,
        defs: _,
        effects,
        category,
        slim,
        exact,
        scopes,
        timeout,
        exclusive,
        service,
        reads,
        writes,
        result_limit,
        requires,
        completion,
        sub_agent,
        deprecated,
    } = spec;
    let mut out = Map::new();
    let mut put = |key: &str, value: Option<Value>| out.extend(value.map(|value| (key.to_owned(), value)));
    put("label", text(label));
    put("description", text(description));
    put("returns", text(returns));
    put("use_for", text(use_for));
    put("documentation", text(documentation));
    put("deprecated", deprecated.as_ref().map(|text| text.as_str().into()));
    put("category", (*category != ToolSpec::EMPTY.category).then(|| category.as_str().into()));
    put("slim", (*slim != Slim::DEFAULT).then(|| slim.to_string().into()));
    put("exact", exact.then_some(true.into()));
    put("effects", Some(effects_written(effects)));
    put("scopes", texts(scopes));
    put("requires", (!requires.is_empty()).then(|| requires.iter().map(requirement).collect()));
    put(
        "timeout",
        match timeout {
            Timeout::Default => None,
            Timeout::Never => Some("never".into()),
            Timeout::Millis(millis) => Some(format!("{millis} ms").into()),
        },
    );
    put("exclusive", exclusive.then_some(true.into()));
    put("service", text(service));
    put("reads", texts(reads));
    put("writes", texts(writes));
    put("result_limit", result_limit.map(Value::from));
    put("completion", completion.as_ref().map(|one| json!({ "next_state": one.next_state.as_str() })));
    put("sub_agent", sub_agent.then_some(true.into()));
    put("examples", (!examples.is_empty()).then(|| examples.iter().map(example).collect()));
    put("input", Some(value(input)));
    put("output", output.as_ref().map(|output| value(output)));
    out
}

fn text(text: &Text) -> Option<Value> {
    (!text.is_empty()).then(|| text.as_str().into())
}

fn texts(texts: &List<Text>) -> Option<Value> {
    (!texts.is_empty()).then(|| texts.iter().map(|text| Value::from(text.as_str())).collect())
}

fn effects_written(effects: &Effects) -> Value {
    let Effects { read_only, destructive, idempotent, open_world, network, files, spawns } = effects;
    let network: Value = match network {
        Network::None => "none".into(),
        Network::Any => "any".into(),
        Network::Hosts(hosts) => hosts.iter().map(|host| Value::from(host.as_str())).collect(),
    };
    let files = match files {
        Files::None => "none",
        Files::Read => "read",
        Files::Write => "write",
    };
    json!({
        "read_only": read_only, "destructive": destructive, "idempotent": idempotent, "open_world": open_world,
        "network": network, "files": files, "spawns": spawns,
    })
}

fn requirement(requirement: &Requirement) -> Value {
    let Requirement { kind, name, argument, message, optional } = requirement;
    let mut out = json!({ "kind": kind.as_str(), "name": name.as_str() });
    for (key, text) in [("argument", argument), ("message", message)] {
        if !text.is_empty() {
            out[key] = text.as_str().into();
        }
    }
    if *optional {
        out["optional"] = true.into();
    }
    out
}

/// Writes an example. The arguments are written as JSON, unless parsing would not return the same string.
fn example(example: &Example) -> Value {
    let Example { summary, arguments } = example;
    let read: Option<Value> = serde_json::from_str(arguments).ok();
    let read = read.filter(|value| value.is_object() && *value.to_string() == **arguments);
    json!({ "summary": summary.as_str(), "arguments": read.unwrap_or_else(|| arguments.as_str().into()) })
}

impl Reader {
    /// Parses a specification without its named shapes.
    pub(super) fn tool(&mut self, name: &str, tool: &Value, at: &str) -> ToolSpec {
        self.keys(tool, at, &KEYS);
        let parsed = ToolName::parse(name.to_owned()).unwrap_or_else(|error| {
            self.fail(at, format!("`{name}` is not a valid tool name: {error}"));
            ToolSpec::EMPTY.name
        });
        let schema = |key: &str| tool.get(key).map(|schema| read_canonical(schema).into());
        let (input, output) = (schema("input"), schema("output"));
        for key in ["input", "output"] {
            if tool.get(key).is_some_and(|schema| !schema.is_object() && !schema.is_boolean()) {
                self.fail(format!("{at}/{key}"), format!("`{key}` is not a schema"));
            }
        }
        if input.is_none() {
            self.fail(format!("{at}/input"), "the schema of the arguments is missing");
        }
        let category = tool.get("category").map(|_| self.text(tool, at, "category").into());
        ToolSpec {
            name: parsed,
            label: self.given_text(tool, at, "label"),
            description: self.given_text(tool, at, "description"),
            returns: self.given_text(tool, at, "returns"),
            use_for: self.given_text(tool, at, "use_for"),
            documentation: self.given_text(tool, at, "documentation"),
            examples: self.objects(tool, at, "examples", Reader::example),
            input: input.unwrap_or(ToolSpec::EMPTY.input),
            output,
            output_may_differ: false,
            string_arguments: List::EMPTY,
            defs: List::EMPTY,
            effects: self.effects(tool.get("effects").unwrap_or(&Value::Null), &format!("{at}/effects")),
            category: category.unwrap_or(ToolSpec::EMPTY.category),
            slim: self.slim(tool, at),
            exact: self.flag(tool, at, "exact").unwrap_or_default(),
            scopes: self.given_texts(tool, at, "scopes"),
            timeout: self.timeout(tool, at),
            exclusive: self.flag(tool, at, "exclusive").unwrap_or_default(),
            service: self.given_text(tool, at, "service"),
            reads: self.given_texts(tool, at, "reads"),
            writes: self.given_texts(tool, at, "writes"),
            result_limit: self.result_limit(tool, at),
            requires: self.objects(tool, at, "requires", Reader::requirement),
            completion: tool.get("completion").map(|one| {
                let at = format!("{at}/completion");
                self.keys(one, &at, &["next_state"]);
                Completion { next_state: self.text(one, &at, "next_state").into() }
            }),
            sub_agent: self.flag(tool, at, "sub_agent").unwrap_or_default(),
            deprecated: tool.get("deprecated").map(|_| self.text(tool, at, "deprecated").into()),
        }
    }

    fn slim(&mut self, tool: &Value, at: &str) -> Slim {
        if tool.get("slim").is_none() {
            return Slim::DEFAULT;
        }
        self.text(tool, at, "slim").parse().unwrap_or_else(|error| {
            self.fail(format!("{at}/slim"), format!("`slim` is invalid: {error}"));
            Slim::DEFAULT
        })
    }

    fn given_text(&mut self, object: &Value, at: &str, key: &str) -> Text {
        if object.get(key).is_some() { self.text(object, at, key).into() } else { Text::EMPTY }
    }

    fn given_texts(&mut self, object: &Value, at: &str, key: &str) -> List<Text> {
        if object.get(key).is_some() { self.texts(object, at, key) } else { List::EMPTY }
    }

    fn flag(&mut self, object: &Value, at: &str, key: &str) -> Option<bool> {
        let value = object.get(key)?;
        if !value.is_boolean() {
            self.fail(format!("{at}/{key}"), format!("`{key}` is not a boolean"));
        }
        value.as_bool()
    }

    fn objects<T>(
        &mut self,
        object: &Value,
        at: &str,
        key: &str,
        read: fn(&mut Reader, &Value, &str) -> T,
    ) -> List<T> {
        match object.get(key) {
            None => List::EMPTY,
            Some(Value::Array(items)) => {
                let items = items.iter().enumerate();
                items.map(|(index, item)| read(self, item, &format!("{at}/{key}/{index}"))).collect()
            }
            Some(_) => {
                self.fail(format!("{at}/{key}"), format!("`{key}` is not an array"));
                List::EMPTY
            }
        }
    }

    fn example(&mut self, example: &Value, at: &str) -> Example {
        self.keys(example, at, &["summary", "arguments"]);
        let arguments = match example.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(arguments @ Value::Object(_)) => arguments.to_string(),
            _ => {
                self.fail(format!("{at}/arguments"), "`arguments` is neither an object nor a string");
                String::new()
            }
        };
        Example { summary: self.text(example, at, "summary").into(), arguments: arguments.into() }
    }

    fn requirement(&mut self, value: &Value, at: &str) -> Requirement {
        self.keys(value, at, &["kind", "name", "argument", "message", "optional"]);
        let kind = self.text(value, at, "kind");
        let known = RequirementKind::ALL.into_iter().find(|one| one.as_str() == kind);
        if known.is_none() {
            let kinds = RequirementKind::ALL.map(RequirementKind::as_str).join(", ");
            self.fail(
                format!("{at}/kind"),
                format!("unknown kind of requirement `{kind}`; expected one of {kinds}"),
            );
        }
        Requirement {
            kind: known.unwrap_or(RequirementKind::Custom),
            name: self.text(value, at, "name").into(),
            argument: self.given_text(value, at, "argument"),
            message: self.given_text(value, at, "message"),
            optional: self.flag(value, at, "optional").unwrap_or_default(),
        }
    }

    fn effects(&mut self, value: &Value, at: &str) -> Effects {
        const FLAGS: [&str; 5] = ["read_only", "destructive", "idempotent", "open_world", "spawns"];
        self.keys(value, at, &[FLAGS.as_slice(), &["network", "files"]].concat());
        let [read_only, destructive, idempotent, open_world, spawns] = FLAGS.map(|key| {
            if value.get(key).is_none() {
                self.fail(format!("{at}/{key}"), format!("`{key}` is missing"));
            }
            self.flag(value, at, key).unwrap_or_default()
        });
        let network = match value.get("network") {
            Some(Value::String(text)) if text == "none" => Network::None,
            Some(Value::String(text)) if text == "any" => Network::Any,
            Some(Value::Array(_)) => Network::Hosts(self.texts(value, at, "network")),
            _ => {
                self.fail(format!("{at}/network"), "`network` is neither none, any nor a list of hosts");
                Network::Any
            }
        };
        let files = match value.get("files").and_then(Value::as_str) {
            Some("none") => Files::None,
            Some("read") => Files::Read,
            Some("write") => Files::Write,
            _ => {
                self.fail(format!("{at}/files"), "`files` is neither none, read nor write");
                Files::Write
            }
        };
        Effects { read_only, destructive, idempotent, open_world, network, files, spawns }
    }

    fn timeout(&mut self, tool: &Value, at: &str) -> Timeout {
        let Some(given) = tool.get("timeout") else { return Timeout::Default };
        let text = given.as_str().unwrap_or_default();
        match text.strip_suffix(" ms").map(str::parse) {
            Some(Ok(millis)) => Timeout::Millis(millis),
            _ if text == "never" => Timeout::Never,
            _ => {
                self.fail(
                    format!("{at}/timeout"),
                    "`timeout` is neither `never` nor a duration such as `500 ms`",
                );
                Timeout::Default
            }
        }
    }

    fn result_limit(&mut self, tool: &Value, at: &str) -> Option<u64> {
        let given = tool.get("result_limit")?;
        if given.as_u64().is_none() {
            self.fail(format!("{at}/result_limit"), "`result_limit` is not a number of bytes");
        }
        given.as_u64()
    }
}

impl ToolSpec {
    /// Returns the specification as JSON, as recorded in a lock, with its name and its named shapes. Members with
    /// default values are omitted, and so are named shapes without references.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("name".into(), self.name.as_str().into());
        out.extend(written(self));
        let mut out = Value::Object(out);
        let by_name = reached(&out, &Lists::default().of(&self.defs));
        if !by_name.is_empty() {
            out["$defs"] = named::written(&by_name);
        }
        out
    }

    /// Parses a specification from JSON.
    ///
    /// # Errors
    ///
    /// Returns all errors, with their locations.
    pub fn from_json(value: &Value) -> Result<ToolSpec, Vec<LockProblem>> {
        let mut reader = Reader::new("write it as `ToolSpec::to_json` does");
        let name = reader.text(value, "", "name");
        let mut tool = value.clone();
        if let Value::Object(members) = &mut tool {
            members.shift_remove("name");
        }
        let spec = reader.tool(&name, &tool, "");
        let by_name = value.get("$defs").and_then(Value::as_object).map(named::read).unwrap_or_default();
        if reader.problems.is_empty() {
            Ok(ToolSpec { defs: defs(&by_name), ..spec })
        } else {
            Err(reader.problems)
        }
    }
}

impl Serialize for ToolSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let joined = |problems: Vec<LockProblem>| {
            let lines = problems.iter().map(|one| format!("ToolSpec{}: {}", one.pointer, one.message));
            D::Error::custom(lines.collect::<Vec<_>>().join("; "))
        };
        ToolSpec::from_json(&Value::deserialize(deserializer)?).map_err(joined)
    }
}
