//! Writes specifications as JSON, and parses them. Members with default values are omitted.

use serde_core::de::{Deserialize, Deserializer, Error};
use serde_core::ser::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::LockProblem;
use super::named::{self, SchemaCache, defs, reachable_schemas};
use crate::base::frozen::{List, Text};
use crate::schema::shape::Slim;
use crate::schema::shape::read::read_canonical;
use crate::schema::shape::render::canonical::value;
use crate::spec::strict_reader::Reader;
use crate::spec::{
    Completion, Effects, Example, Files, Hints, Network, Requirement, RequirementKind, Timeout, ToolName,
    ToolSpec,
};

/// The keys of a tool.
pub(super) const KEYS: [&str; 27] = [
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
    "projection",
    "timeout",
    "exclusive",
    "service",
    "reads",
    "writes",
    "result_limit",
    "completion",
    "sub_agent",
    "hints",
    "call",
    "examples",
    "input",
    "output",
    "$defs",
];

/// Returns a specification as an object, without its name and its named shapes.
pub(super) fn spec_to_json(spec: &ToolSpec) -> Map<String, Value> {
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
        projection,
        completion,
        sub_agent,
        hints,
        deprecated,
    } = spec;
    let mut out = Map::new();
    let mut insert_some =
        |key: &str, value: Option<Value>| out.extend(value.map(|value| (key.to_owned(), value)));
    insert_some("label", text(label));
    insert_some("description", text(description));
    insert_some("returns", text(returns));
    insert_some("use_for", text(use_for));
    insert_some("documentation", text(documentation));
    insert_some("deprecated", deprecated.as_ref().map(|text| text.as_str().into()));
    insert_some("category", (*category != ToolSpec::EMPTY.category).then(|| category.as_str().into()));
    insert_some("slim", (*slim != Slim::DEFAULT).then(|| slim.to_string().into()));
    insert_some("exact", exact.then_some(true.into()));
    insert_some("effects", Some(effects_to_json(effects)));
    insert_some("scopes", texts(scopes));
    insert_some(
        "requires",
        (!requires.is_empty()).then(|| requires.iter().map(requirement_to_json).collect()),
    );
    insert_some("projection", text(projection));
    insert_some(
        "timeout",
        match timeout {
            Timeout::Default => None,
            Timeout::Never => Some("never".into()),
            Timeout::Millis(millis) => Some(format!("{millis} ms").into()),
        },
    );
    insert_some("exclusive", exclusive.then_some(true.into()));
    insert_some("service", text(service));
    insert_some("reads", texts(reads));
    insert_some("writes", texts(writes));
    insert_some("result_limit", result_limit.map(Value::from));
    insert_some(
        "completion",
        completion.as_ref().map(|completion| json!({ "next_state": completion.next_state.as_str() })),
    );
    insert_some("sub_agent", sub_agent.then_some(true.into()));
    insert_some("hints", hints.to_json());
    insert_some("examples", (!examples.is_empty()).then(|| examples.iter().map(example_to_json).collect()));
    insert_some("input", Some(value(input)));
    insert_some("output", output.as_ref().map(|output| value(output)));
    out
}

fn text(text: &Text) -> Option<Value> {
    (!text.is_empty()).then(|| text.as_str().into())
}

fn texts(texts: &List<Text>) -> Option<Value> {
    (!texts.is_empty()).then(|| texts.iter().map(|text| Value::from(text.as_str())).collect())
}

fn effects_to_json(effects: &Effects) -> Value {
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

fn requirement_to_json(requirement: &Requirement) -> Value {
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
fn example_to_json(example: &Example) -> Value {
    let Example { summary, arguments } = example;
    let parsed: Option<Value> = serde_json::from_str(arguments).ok();
    let parsed = parsed.filter(|value| value.is_object() && *value.to_string() == **arguments);
    json!({ "summary": summary.as_str(), "arguments": parsed.unwrap_or_else(|| arguments.as_str().into()) })
}

impl Reader {
    /// Parses a specification without its named shapes.
    pub(super) fn read_tool(&mut self, name: &str, tool: &Value, pointer: &str) -> ToolSpec {
        self.keys(tool, pointer, &KEYS);
        let parsed = ToolName::parse(name.to_owned()).unwrap_or_else(|error| {
            self.fail(pointer, format!("`{name}` is not a valid tool name: {error}"));
            ToolSpec::EMPTY.name
        });
        let schema = |key: &str| tool.get(key).map(|schema| read_canonical(schema).into());
        let (input, output) = (schema("input"), schema("output"));
        for key in ["input", "output"] {
            if tool.get(key).is_some_and(|schema| !schema.is_object() && !schema.is_boolean()) {
                self.fail(format!("{pointer}/{key}"), format!("`{key}` is not a schema"));
            }
        }
        if input.is_none() {
            self.fail(format!("{pointer}/input"), "the schema of the arguments is missing");
        }
        let category = tool.get("category").map(|_| self.text(tool, pointer, "category").into());
        ToolSpec {
            name: parsed,
            label: self.optional_text(tool, pointer, "label"),
            description: self.optional_text(tool, pointer, "description"),
            returns: self.optional_text(tool, pointer, "returns"),
            use_for: self.optional_text(tool, pointer, "use_for"),
            documentation: self.optional_text(tool, pointer, "documentation"),
            examples: self.read_objects(tool, pointer, "examples", Reader::read_example),
            input: input.unwrap_or(ToolSpec::EMPTY.input),
            output,
            output_may_differ: false,
            string_arguments: List::EMPTY,
            defs: List::EMPTY,
            effects: self
                .read_effects(tool.get("effects").unwrap_or(&Value::Null), &format!("{pointer}/effects")),
            category: category.unwrap_or(ToolSpec::EMPTY.category),
            slim: self.read_slim(tool, pointer),
            exact: self.read_flag(tool, pointer, "exact").unwrap_or_default(),
            scopes: self.optional_texts(tool, pointer, "scopes"),
            timeout: self.read_timeout(tool, pointer),
            exclusive: self.read_flag(tool, pointer, "exclusive").unwrap_or_default(),
            service: self.optional_text(tool, pointer, "service"),
            reads: self.optional_texts(tool, pointer, "reads"),
            writes: self.optional_texts(tool, pointer, "writes"),
            result_limit: self.read_result_limit(tool, pointer),
            requires: self.read_objects(tool, pointer, "requires", Reader::read_requirement),
            completion: tool.get("completion").map(|completion| {
                let pointer = format!("{pointer}/completion");
                self.keys(completion, &pointer, &["next_state"]);
                Completion { next_state: self.text(completion, &pointer, "next_state").into() }
            }),
            projection: self.optional_text(tool, pointer, "projection"),
            sub_agent: self.read_flag(tool, pointer, "sub_agent").unwrap_or_default(),
            hints: match tool.get("hints") {
                Some(hints) => self.read_hints(hints, &format!("{pointer}/hints")),
                None => Hints::NONE,
            },
            deprecated: tool.get("deprecated").map(|_| self.text(tool, pointer, "deprecated").into()),
        }
    }

    fn read_slim(&mut self, tool: &Value, pointer: &str) -> Slim {
        if tool.get("slim").is_none() {
            return Slim::DEFAULT;
        }
        self.text(tool, pointer, "slim").parse().unwrap_or_else(|error| {
            self.fail(format!("{pointer}/slim"), format!("`slim` is invalid: {error}"));
            Slim::DEFAULT
        })
    }

    pub(in crate::spec) fn optional_text(&mut self, object: &Value, pointer: &str, key: &str) -> Text {
        if object.get(key).is_some() { self.text(object, pointer, key).into() } else { Text::EMPTY }
    }

    pub(in crate::spec) fn optional_texts(&mut self, object: &Value, pointer: &str, key: &str) -> List<Text> {
        if object.get(key).is_some() { self.texts(object, pointer, key) } else { List::EMPTY }
    }

    pub(in crate::spec) fn read_flag(&mut self, object: &Value, pointer: &str, key: &str) -> Option<bool> {
        let value = object.get(key)?;
        if !value.is_boolean() {
            self.fail(format!("{pointer}/{key}"), format!("`{key}` is not a boolean"));
        }
        value.as_bool()
    }

    pub(in crate::spec) fn read_objects<T>(
        &mut self,
        object: &Value,
        pointer: &str,
        key: &str,
        read: fn(&mut Reader, &Value, &str) -> T,
    ) -> List<T> {
        match object.get(key) {
            None => List::EMPTY,
            Some(Value::Array(items)) => {
                let items = items.iter().enumerate();
                items.map(|(index, item)| read(self, item, &format!("{pointer}/{key}/{index}"))).collect()
            }
            Some(_) => {
                self.fail(format!("{pointer}/{key}"), format!("`{key}` is not an array"));
                List::EMPTY
            }
        }
    }

    fn read_example(&mut self, example: &Value, pointer: &str) -> Example {
        self.keys(example, pointer, &["summary", "arguments"]);
        let arguments = match example.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(arguments @ Value::Object(_)) => arguments.to_string(),
            _ => {
                self.fail(format!("{pointer}/arguments"), "`arguments` is neither an object nor a string");
                String::new()
            }
        };
        Example { summary: self.text(example, pointer, "summary").into(), arguments: arguments.into() }
    }

    fn read_requirement(&mut self, value: &Value, pointer: &str) -> Requirement {
        self.keys(value, pointer, &["kind", "name", "argument", "message", "optional"]);
        let kind = self.text(value, pointer, "kind");
        let known_kind = RequirementKind::ALL.into_iter().find(|known| known.as_str() == kind);
        if known_kind.is_none() {
            let kinds = RequirementKind::ALL.map(RequirementKind::as_str).join(", ");
            self.fail(
                format!("{pointer}/kind"),
                format!("unknown kind of requirement `{kind}`; expected one of {kinds}"),
            );
        }
        Requirement {
            kind: known_kind.unwrap_or(RequirementKind::Custom),
            name: self.text(value, pointer, "name").into(),
            argument: self.optional_text(value, pointer, "argument"),
            message: self.optional_text(value, pointer, "message"),
            optional: self.read_flag(value, pointer, "optional").unwrap_or_default(),
        }
    }

    fn read_effects(&mut self, value: &Value, pointer: &str) -> Effects {
        const FLAGS: [&str; 5] = ["read_only", "destructive", "idempotent", "open_world", "spawns"];
        self.keys(value, pointer, &[FLAGS.as_slice(), &["network", "files"]].concat());
        let [read_only, destructive, idempotent, open_world, spawns] = FLAGS.map(|key| {
            if value.get(key).is_none() {
                self.fail(format!("{pointer}/{key}"), format!("`{key}` is missing"));
            }
            self.read_flag(value, pointer, key).unwrap_or_default()
        });
        let network = match value.get("network") {
            Some(Value::String(text)) if text == "none" => Network::None,
            Some(Value::String(text)) if text == "any" => Network::Any,
            Some(Value::Array(_)) => Network::Hosts(self.texts(value, pointer, "network")),
            _ => {
                self.fail(format!("{pointer}/network"), "`network` is neither none, any nor a list of hosts");
                Network::Any
            }
        };
        let files = match value.get("files").and_then(Value::as_str) {
            Some("none") => Files::None,
            Some("read") => Files::Read,
            Some("write") => Files::Write,
            _ => {
                self.fail(format!("{pointer}/files"), "`files` is neither none, read nor write");
                Files::Write
            }
        };
        Effects { read_only, destructive, idempotent, open_world, network, files, spawns }
    }

    fn read_timeout(&mut self, tool: &Value, pointer: &str) -> Timeout {
        let Some(value) = tool.get("timeout") else { return Timeout::Default };
        let text = value.as_str().unwrap_or_default();
        match text.strip_suffix(" ms").map(str::parse) {
            Some(Ok(millis)) => Timeout::Millis(millis),
            _ if text == "never" => Timeout::Never,
            _ => {
                self.fail(
                    format!("{pointer}/timeout"),
                    "`timeout` is neither `never` nor a duration such as `500 ms`",
                );
                Timeout::Default
            }
        }
    }

    fn read_result_limit(&mut self, tool: &Value, pointer: &str) -> Option<u64> {
        let value = tool.get("result_limit")?;
        if value.as_u64().is_none() {
            self.fail(format!("{pointer}/result_limit"), "`result_limit` is not a number of bytes");
        }
        value.as_u64()
    }
}

impl ToolSpec {
    /// Returns the specification as JSON, as recorded in a lock, with its name and its named shapes. Members with
    /// default values are omitted, and so are named shapes without references.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("name".into(), self.name.as_str().into());
        out.extend(spec_to_json(self));
        let mut out = Value::Object(out);
        let by_name = reachable_schemas(&out, &SchemaCache::default().of(&self.defs));
        if !by_name.is_empty() {
            out["$defs"] = named::schemas_to_json(&by_name);
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
        let spec = reader.read_tool(&name, &tool, "");
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
        let join_problems = |problems: Vec<LockProblem>| {
            let lines =
                problems.iter().map(|problem| format!("ToolSpec{}: {}", problem.pointer, problem.message));
            D::Error::custom(lines.collect::<Vec<_>>().join("; "))
        };
        ToolSpec::from_json(&Value::deserialize(deserializer)?).map_err(join_problems)
    }
}
