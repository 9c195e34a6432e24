//! Runs the scripts in this directory: reading of schemas, rendering for dialects, encoding and decoding of
//! arguments.
//!
//! `schema` and `fields` (of a closed object, all optional) set the schema of the following lines, `dialect` the
//! dialect. `texts` names an argument that is sent as a string. `sent-as-text` sets the schema of two arguments: `v`,
//! which is sent as a string, and `w`, which is not.

use std::path::Path;

use serde_json::{Value, json};
use toolgen_test_support::script;

use crate::base::frozen::{List, Text};
use crate::schema::dialect::{Dialect, JSON_SCHEMA};
use crate::schema::shape::decode::string_coercion::coerce_strings;
use crate::schema::shape::decode::{decode, decode_owned};
use crate::schema::shape::read::{plain_markdown, read, read_canonical, read_document};
use crate::schema::shape::render::{canonical, render_input};
use crate::schema::shape::slim::slim;
use crate::schema::shape::{Def, Shape, encode};

/// The settings of a case.
struct Context {
    shape: Shape,
    defs: List<Def>,
    dialect: &'static Dialect,
    texts: List<Text>,
}

impl Context {
    fn set(&mut self, schema: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        (self.shape, self.defs) = read_document(schema, &mut problems);
        problems.into_iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect()
    }

    fn decode(&self, arguments: &Value) -> Vec<String> {
        let arguments = coerce_strings(arguments, &self.shape, &self.defs, &self.texts);
        let again = coerce_strings(&arguments, &self.shape, &self.defs, &self.texts);
        assert_eq!(arguments, again, "string coercion is idempotent");
        let decoded = decode(&arguments, &self.shape, &self.defs, self.dialect);
        let owned =
            decode_owned(arguments.into_owned(), &self.shape, &self.defs, self.dialect, &mut Vec::new());
        assert_eq!(owned, decoded);
        match decoded {
            Ok(decoded) => {
                let again = decode(&decoded, &self.shape, &self.defs, &JSON_SCHEMA);
                let refused = again.err().map(|problems| format!("which is refused: {problems:?}"));
                std::iter::once(decoded.to_string()).chain(refused).collect()
            }
            Err(problems) => problems
                .into_iter()
                .map(|problem| format!("{}: {}", problem.pointer, problem.message))
                .collect(),
        }
    }

    /// Returns the encoded arguments and their problems: the schema should accept them, and decoding should return
    /// the same arguments.
    fn encode(&self, arguments: &Value) -> Vec<String> {
        let written = encode(arguments, &self.shape, &self.defs, self.dialect);
        let mut messages = vec![written.to_string()];
        let schema = render_input(&self.shape, &self.defs, self.dialect).unwrap().schema;
        if !jsonschema::is_valid(&schema, &written) {
            messages.push(format!("which is not as its schema says: {schema}"));
        }
        if decode(&written, &self.shape, &self.defs, self.dialect).as_ref() != Ok(arguments) {
            messages.extend(self.decode(&written).iter().map(|read| format!("which is read as {read}")));
        }
        messages
    }

    /// Returns the trimmed schema, and the trims.
    fn slim(&self, levers: &str) -> Vec<String> {
        let slimmed = slim(&self.shape, &self.defs, &levers.parse().unwrap());
        let rendered = render_input(&slimmed.shape, &slimmed.defs, self.dialect).unwrap();
        let trims = slimmed.trims.iter().map(ToString::to_string);
        std::iter::once(rendered.schema.to_string()).chain(trims).collect()
    }

    fn render(&self) -> Vec<String> {
        match render_input(&self.shape, &self.defs, self.dialect) {
            Ok(rendered) => {
                let losses = rendered.losses.iter().map(ToString::to_string);
                std::iter::once(rendered.schema.to_string()).chain(losses).collect()
            }
            Err(refusals) => refusals
                .into_iter()
                .map(|refusal| format!("refused: {}: {}", refusal.pointer, refusal.reason))
                .collect(),
        }
    }
}

/// Returns a description as a model reads it, and the second conversion if it differs.
fn run_plain(text: &str) -> Vec<String> {
    let displayed = plain_markdown(text);
    if displayed == text {
        return vec!["as it is".to_owned()];
    }
    let again = plain_markdown(&displayed);
    let again = (again != displayed).then(|| format!("again {again:?}"));
    std::iter::once(format!("{displayed:?}")).chain(again).collect()
}

/// Returns the canonical text of a schema, which describes it completely and is read back as the same shape.
fn run_read(schema: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let shape = read(schema, &mut problems);
    let text = canonical(&shape);
    assert_eq!(read_canonical(&serde_json::from_str(&text).unwrap()), shape, "{text}");
    let written = schema.to_string();
    let text = if text == written { "as it is written".to_owned() } else { text };
    let describe = |problem: crate::schema::shape::read::ReadProblem| {
        format!("{:?} at {}: {}", problem.kind, problem.pointer, problem.message)
    };
    std::iter::once(text).chain(problems.into_iter().map(describe)).collect()
}

fn replay(name: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema/shape/tests").join(name);
    script::replay(&file, || {
        let mut context = Context {
            shape: Shape::NO_ARGUMENTS,
            defs: List::EMPTY,
            dialect: &JSON_SCHEMA,
            texts: List::EMPTY,
        };
        move |word, rest| {
            let value =
                || -> Value { serde_json::from_str(rest).unwrap_or_else(|error| panic!("{rest}: {error}")) };
            let closed = |fields: Value| json!({"type": "object", "properties": fields, "additionalProperties": false});
            match word {
                "schema" => context.set(&value()),
                "fields" => context.set(&closed(value())),
                "sent-as-text" => {
                    context.texts = vec![Text::from("v")].into();
                    context.set(&closed(json!({"v": value(), "w": value()})))
                }
                "texts" => {
                    context.texts = vec![Text::from(rest.to_owned())].into();
                    Vec::new()
                }
                "dialect" => {
                    context.dialect = Dialect::by_name(rest).unwrap();
                    Vec::new()
                }
                "decode" => context.decode(&value()),
                "encode" => context.encode(&value()),
                "render" => context.render(),
                "read" => run_read(&value()),
                "slim" => context.slim(rest),
                "plain" => run_plain(value().as_str().unwrap()),
                other => panic!("unknown command `{other}`"),
            }
        }
    });
}

#[test]
fn decoding_matches_the_script() {
    replay("decode.txt");
}

#[test]
fn unions_match_the_script() {
    replay("unions.txt");
}

#[test]
fn string_coercion_matches_the_script() {
    replay("texts.txt");
}

#[test]
fn encoding_matches_the_script() {
    replay("codec.txt");
}

#[test]
fn parsing_matches_the_script() {
    replay("read.txt");
}

#[test]
fn rendering_matches_the_script() {
    replay("render.txt");
}

#[test]
fn slimming_matches_the_script() {
    replay("slim.txt");
}

#[test]
fn markdown_removal_matches_the_script() {
    replay("plain.txt");
}
