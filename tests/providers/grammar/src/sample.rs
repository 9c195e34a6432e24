//! Arguments drawn from the grammar of a schema, and what decoding makes of them.
//!
//! A provider that decodes with a grammar can only write what the grammar allows. So everything the grammar allows must
//! decode, or break a rule that the dialect could not express, which rendering told as a loss.

use std::collections::BTreeMap;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv};
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_runtime::schema::shape::decode::decode;
use toolgen_runtime::spec::ToolSpec;

use crate::sources::Source;

/// A sample is brought to its end from here on, in bytes.
const SOFT: usize = 400;
/// A sample that is not done here is given up.
const HARD: usize = 6_000;
/// Masks one schema may take: a schema whose samples are all long gets fewer of them.
const MASKS: usize = 200_000;

/// What happened in one dialect.
#[derive(Default)]
struct Counts {
    tools: u64,
    refused: u64,
    not_compiled: u64,
    samples: u64,
    unfinished: u64,
    told: u64,
    failed: u64,
}

/// Draws `count` arguments from each tool in each dialect, and prints a line for each finding, and one with the counts.
pub fn run(sources: &[Source], count: usize, seed: u64) {
    let env: TokEnv = ApproximateTokEnv::single_byte_env();
    let factory = match ParserFactory::new_simple(&env) {
        Ok(mut factory) => {
            factory.quiet();
            factory
        }
        Err(error) => {
            eprintln!("llguidance: {error}");
            return;
        }
    };
    let mut totals: BTreeMap<&str, Counts> = BTreeMap::new();
    for source in sources {
        for (index, spec) in source.specs.iter().enumerate() {
            for dialect in Dialect::ALL {
                let counts = totals.entry(dialect.name).or_default();
                let mut random = Random(seed ^ (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                if let Some(finding) = judge(spec, dialect, &factory, count, &mut random, counts) {
                    println!(
                        "{}",
                        json!({"source": source.name, "tool": spec.name.as_str(), "dialect": dialect.name, "finding": finding})
                    );
                }
            }
        }
    }
    let totals: serde_json::Map<String, Value> = totals
        .into_iter()
        .map(|(dialect, counts)| {
            let Counts { tools, refused, not_compiled, samples, unfinished, told, failed } = counts;
            let counts = json!({
                "tools": tools, "refused": refused, "not_compiled": not_compiled, "samples": samples,
                "unfinished": unfinished, "refused_as_told": told, "failed": failed,
            });
            (dialect.to_owned(), counts)
        })
        .collect();
    println!("{}", json!({"totals": totals}));
}

/// Judges a tool in a dialect, and returns the first thing that is wrong.
fn judge(
    spec: &ToolSpec,
    dialect: &'static Dialect,
    factory: &ParserFactory,
    count: usize,
    random: &mut Random,
    counts: &mut Counts,
) -> Option<Value> {
    counts.tools += 1;
    let Ok(told) = spec.schema(dialect) else {
        counts.refused += 1;
        return None;
    };
    let mut schema = told.schema.clone();
    if !schema.is_object() {
        // A tool without arguments has no schema in some dialects.
        return None;
    }
    if !dialect.takes("additionalProperties") {
        close(&mut schema);
    }
    schema["x-guidance"] = json!({"whitespace_flexible": false});
    let fresh = Matcher::new(factory.create_parser(TopLevelGrammar::from_json_schema(schema)));
    if let Some(error) = fresh.get_error() {
        counts.not_compiled += 1;
        return Some(json!({"kind": "grammar", "error": error.lines().next()}));
    }
    let losses = told.losses.iter().filter(|loss| loss.keyword != "description");
    let places: Vec<&str> = losses
        .map(|loss| loss.pointer.as_str())
        // What is too large to be shown whole is decoded by the whole schema.
        .chain(told.trims.iter().map(|trim| trim.pointer.as_str()).filter(|pointer| !pointer.is_empty()))
        .collect();
    let mut masks = MASKS;
    let mut finding = None;
    for _ in 0..count {
        let Some(text) = draw(fresh.deep_clone(), random, &mut masks) else {
            counts.unfinished += 1;
            if masks == 0 {
                break;
            }
            continue;
        };
        counts.samples += 1;
        match decoded(&text, spec, dialect, &places) {
            Verdict::Good => {}
            Verdict::Told => counts.told += 1,
            Verdict::Wrong(why) => {
                counts.failed += 1;
                finding.get_or_insert(json!({"kind": "sample", "sample": text, "error": why}));
            }
        }
    }
    finding
}

/// Closes every object, as providers do whose schemas cannot say whether there are other keys.
fn close(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(close),
        Value::Object(keywords) => {
            if keywords.get("properties").is_some_and(Value::is_object) && keywords.get("type").is_some() {
                keywords.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            keywords.values_mut().for_each(close);
        }
        _ => {}
    }
}

enum Verdict {
    Good,
    /// Refused for a rule that rendering told as not expressed or trimmed.
    Told,
    Wrong(String),
}

fn decoded(text: &str, spec: &ToolSpec, dialect: &'static Dialect, places: &[&str]) -> Verdict {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        // A number such as `1e999` fits the grammar of numbers, and no number.
        Err(error) if error.to_string().contains("out of range") => return Verdict::Good,
        Err(error) => return Verdict::Wrong(format!("the grammar allows what is not JSON: {error}")),
    };
    match decode(&value, &spec.input, &spec.defs, dialect) {
        Ok(arguments) => match decode(&arguments, &spec.input, &spec.defs, &JSON_SCHEMA) {
            Ok(again) if again == arguments => Verdict::Good,
            Ok(again) => Verdict::Wrong(format!("decoded to {arguments}, which decodes to {again}")),
            Err(problems) => {
                Verdict::Wrong(format!("decoded to {arguments}, which does not fit: {}", all(&problems)))
            }
        },
        Err(problems)
            if problems.iter().all(|one| is_told(&one.pointer, places) || is_bound_of_type(&one.message)) =>
        {
            Verdict::Told
        }
        Err(problems) => Verdict::Wrong(all(&problems)),
    }
}

fn all(problems: &[toolgen_runtime::schema::shape::decode::ArgumentProblem]) -> String {
    problems.iter().map(|one| format!("{}: {}", one.pointer, one.message)).collect::<Vec<_>>().join("; ")
}

/// Whether a number is beyond what its type holds, such as 65535: such bounds are checked and deliberately not told.
fn is_bound_of_type(message: &str) -> bool {
    let bound =
        ["must be at most ", "must be at least "].iter().find_map(|start| message.strip_prefix(start));
    let digits = bound.and_then(|rest| rest.split(',').next()).map(|number| number.trim_start_matches('-'));
    let power = |number: u128| number.is_power_of_two() || (number + 1).is_power_of_two();
    digits.and_then(|digits| digits.parse().ok()).is_some_and(|number: u128| number > 100 && power(number))
}

/// Whether a loss or a trim was told at this place of the arguments, or at one that contains it. One inside a named schema
/// may be anywhere.
fn is_told(problem: &str, places: &[&str]) -> bool {
    let names: Vec<&str> =
        problem.split('/').filter(|part| !part.is_empty() && part.parse::<u64>().is_err()).collect();
    places.iter().any(|pointer| {
        if pointer.starts_with("/$defs/") {
            return true;
        }
        let mut parts = pointer.split('/');
        let mut at = names.iter();
        // The names of the fields on the way to the loss are those on the way to the problem.
        while let Some(part) = parts.next() {
            if part == "properties" {
                let Some(name) = parts.next() else { return true };
                match at.next() {
                    Some(given) if *given == name => {}
                    Some(_) => return false,
                    None => return true,
                }
            }
        }
        true
    })
}

/// Draws one text of a grammar, or none if it does not end in time.
fn draw(mut matcher: Matcher, random: &mut Random, masks: &mut usize) -> Option<String> {
    let mut text: Vec<u8> = Vec::new();
    while text.len() < HARD {
        if matcher.is_stopped() {
            return String::from_utf8(text).ok();
        }
        let forced = matcher.consume_ff_tokens();
        if !forced.is_empty() {
            text.extend(forced.iter().filter_map(|&token| u8::try_from(token).ok()));
            continue;
        }
        *masks = masks.checked_sub(1)?;
        let mask = matcher.compute_mask_or_eos().ok()?;
        let mut allowed: Vec<(u32, u32)> = Vec::new();
        mask.iter_set_entries(|token| allowed.push((token as u32, 0)));
        let groups = allowed.iter().filter(|(token, _)| group(*token) == Group::Text).count().max(1) as u32;
        for (token, weight) in &mut allowed {
            *weight = match (group(*token), text.len() > SOFT) {
                (Group::End, true) => 1_000_000,
                (Group::Close, true) => 100_000,
                (Group::Null, true) => 10_000,
                (Group::Open, true) => 1,
                (Group::End | Group::Close | Group::Comma, _) => 300,
                (Group::Null | Group::Open | Group::Text, _) => 1_000 / groups + 1,
                (Group::Rare, _) => 1,
            };
        }
        let mut at = random.below(allowed.iter().map(|(_, weight)| u64::from(*weight)).sum());
        let (token, _) = *allowed.iter().find(|(_, weight)| {
            let weight = u64::from(*weight);
            let found = at < weight;
            at = at.saturating_sub(weight);
            found
        })?;
        matcher.consume_token(token).ok()?;
        text.extend(u8::try_from(token));
    }
    None
}

#[derive(PartialEq)]
enum Group {
    End,
    Close,
    Comma,
    Null,
    Open,
    Text,
    Rare,
}

fn group(token: u32) -> Group {
    match u8::try_from(token) {
        Err(_) => Group::End,
        Ok(b'"' | b'}' | b']') => Group::Close,
        Ok(b',') => Group::Comma,
        Ok(b'n') => Group::Null,
        Ok(b'{' | b'[') => Group::Open,
        Ok(b'\\' | 0x7f..) => Group::Rare,
        Ok(_) => Group::Text,
    }
}

/// A small generator (xorshift), so that a finding can be drawn again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.max(1);
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}
