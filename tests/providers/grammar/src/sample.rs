//! Samples arguments from the grammar of a schema, and decodes them.
//!
//! A vendor with constrained decoding can only generate what the grammar allows. So everything that the grammar
//! allows must decode, or violate a rule that the dialect could not express, which rendering reported as a loss.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv};
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_runtime::schema::shape::decode::decode;
use toolgen_runtime::spec::ToolSpec;

use crate::sources::Source;

/// Length in bytes from which a sample is completed as soon as possible.
const SOFT: usize = 400;
/// Maximum length of a sample in bytes; a longer one is abandoned.
const HARD: usize = 6_000;
/// Maximum number of masks per schema: a schema with long samples gets fewer samples.
const MASKS: usize = 200_000;

/// The counts of one dialect.
#[derive(Default)]
struct Counts {
    refused: u64,
    not_compiled: u64,
    samples: u64,
    unfinished: u64,
    told: u64,
    failed: u64,
}

impl Counts {
    fn told(&self) -> Value {
        let Counts { refused, not_compiled, samples, unfinished, told, failed } = self;
        json!({
            "tools": 1, "refused": refused, "not_compiled": not_compiled, "samples": samples, "unfinished": unfinished,
            "refused_as_told": told, "failed": failed,
        })
    }
}

/// The number of samples, and the tools to sample.
pub struct Plan<'a> {
    /// Number of samples per tool and dialect.
    pub count: usize,
    /// The seed of the generator.
    pub seed: u64,
    /// The shard of the tools, from 1, and the number of shards.
    pub shard: (usize, usize),
    /// The output file, with one line per tool. Tools with a line are skipped.
    pub results: &'a Path,
}

/// Samples arguments of each tool in each dialect, and appends a line with the counts and findings of each tool to the
/// results.
///
/// # Errors
///
/// Returns an error if the results cannot be read or written, or if the engine does not start.
pub fn run(sources: &[Source], plan: &Plan<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let env: TokEnv = ApproximateTokEnv::single_byte_env();
    let mut factory = ParserFactory::new_simple(&env)?;
    factory.quiet();
    let done = done(plan.results)?;
    let mut results = OpenOptions::new().create(true).append(true).open(plan.results)?;
    let (shard, shards) = plan.shard;
    let tools = sources
        .iter()
        .flat_map(|source| source.specs.iter().enumerate().map(move |(index, spec)| (source, index, spec)));
    for (_, (source, index, spec)) in tools.enumerate().filter(|(at, _)| at % shards == shard - 1) {
        if done.contains(&(source.name.clone(), spec.name.to_string())) {
            continue;
        }
        let mut random = Random(plan.seed ^ (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (counts, findings) = judge(spec, &factory, plan.count, &mut random);
        let counts: serde_json::Map<String, Value> =
            counts.into_iter().map(|(dialect, counts)| (dialect.to_owned(), counts.told())).collect();
        let line = json!({"source": source.name, "tool": spec.name.as_str(), "counts": counts, "findings": findings});
        results.write_all(format!("{line}\n").as_bytes())?;
    }
    Ok(())
}

/// Returns the tools with a line in the results. An incomplete line is removed.
fn done(results: &Path) -> std::io::Result<HashSet<(String, String)>> {
    let before = if results.exists() { fs::read_to_string(results)? } else { String::new() };
    let (mut whole, mut done) = (String::new(), HashSet::new());
    for text in before.lines() {
        let Ok(line) = serde_json::from_str::<Value>(text) else { continue };
        if let (Some(source), Some(tool)) = (line["source"].as_str(), line["tool"].as_str()) {
            done.insert((source.to_owned(), tool.to_owned()));
            whole.push_str(text);
            whole.push('\n');
        }
    }
    fs::write(results, whole)?;
    Ok(done)
}

/// The dialects in which a tool has the same schema, so that they share one grammar.
struct Alike<'s> {
    schema: Value,
    /// Each dialect, with the locations of the losses that rendering reported.
    dialects: Vec<(&'static Dialect, Vec<String>)>,
    spec: &'s ToolSpec,
}

/// Checks a tool in each dialect, and returns the counts, and the first error of each.
fn judge(
    spec: &ToolSpec,
    factory: &ParserFactory,
    count: usize,
    random: &mut Random,
) -> (BTreeMap<&'static str, Counts>, Vec<Value>) {
    let mut counts: BTreeMap<&'static str, Counts> = BTreeMap::new();
    let mut groups: Vec<Alike<'_>> = Vec::new();
    for dialect in Dialect::ALL {
        let own = counts.entry(dialect.name).or_default();
        let Ok(told) = spec.schema(dialect) else {
            own.refused += 1;
            continue;
        };
        let mut schema = told.schema;
        if !schema.is_object() {
            // A tool without arguments has no schema in some dialects.
            continue;
        }
        if !dialect.takes("additionalProperties") {
            close(&mut schema);
        }
        schema["x-guidance"] = json!({"whitespace_flexible": false});
        let losses = told.losses.into_iter().filter(|loss| loss.keyword != "description");
        let places: Vec<String> = losses
            .map(|loss| loss.pointer)
            // Trimmed parts are decoded by the full schema.
            .chain(told.trims.into_iter().map(|trim| trim.pointer).filter(|pointer| !pointer.is_empty()))
            .collect();
        match groups.iter_mut().find(|group| group.schema == schema) {
            Some(group) => group.dialects.push((dialect, places)),
            None => groups.push(Alike { schema, dialects: vec![(dialect, places)], spec }),
        }
    }
    let findings =
        groups.into_iter().flat_map(|group| group.judge(factory, count, random, &mut counts)).collect();
    (counts, findings)
}

impl Alike<'_> {
    /// Samples arguments, and decodes them in each dialect.
    fn judge(
        self,
        factory: &ParserFactory,
        count: usize,
        random: &mut Random,
        counts: &mut BTreeMap<&'static str, Counts>,
    ) -> Vec<Value> {
        let mut findings: BTreeMap<&'static str, Value> = BTreeMap::new();
        let fresh = Matcher::new(factory.create_parser(TopLevelGrammar::from_json_schema(self.schema)));
        if let Some(error) = fresh.get_error() {
            for &(dialect, _) in &self.dialects {
                counts.entry(dialect.name).or_default().not_compiled += 1;
                let why = json!({"dialect": dialect.name, "kind": "grammar", "error": error.lines().next()});
                findings.insert(dialect.name, why);
            }
            return findings.into_values().collect();
        }
        let mut masks = MASKS;
        for _ in 0..count {
            let drawn = draw(fresh.deep_clone(), random, &mut masks);
            for &(dialect, ref places) in &self.dialects {
                let own = counts.entry(dialect.name).or_default();
                let Some(text) = &drawn else {
                    own.unfinished += 1;
                    continue;
                };
                own.samples += 1;
                match decoded(text, self.spec, dialect, places) {
                    Verdict::Good => {}
                    Verdict::Told => own.told += 1,
                    Verdict::Wrong(why) => {
                        own.failed += 1;
                        findings.entry(dialect.name).or_insert_with(
                            || json!({"dialect": dialect.name, "kind": "sample", "sample": text, "error": why}),
                        );
                    }
                }
            }
            if masks == 0 {
                break;
            }
        }
        findings.into_values().collect()
    }
}

/// Closes every object, like vendors whose schemas cannot allow additional keys.
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
    /// Rejected by a rule that rendering reported as not expressed or trimmed.
    Told,
    Wrong(String),
}

fn decoded(text: &str, spec: &ToolSpec, dialect: &'static Dialect, places: &[String]) -> Verdict {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        // A number such as `1e999` matches the grammar, but is out of range.
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
            if problems.iter().all(|one| {
                is_told(&one.pointer, places) || is_bound_of_type(&one.message) || is_key_again(&one.message)
            }) =>
        {
            Verdict::Told
        }
        Err(problems) => Verdict::Wrong(all(&problems)),
    }
}

fn all(problems: &[toolgen_runtime::schema::shape::decode::ArgumentProblem]) -> String {
    problems.iter().map(|one| format!("{}: {}", one.pointer, one.message)).collect::<Vec<_>>().join("; ")
}

/// Whether a number exceeds the range of its type, such as 65535: such bounds are enforced but deliberately not
/// rendered.
fn is_bound_of_type(message: &str) -> bool {
    if message.starts_with("the integer is outside the 64-bit range") {
        return true;
    }
    let power = |number: u128| number.is_power_of_two() || (number + 1).is_power_of_two();
    let is_end = |number: &str| {
        number.trim_start_matches('-').parse().is_ok_and(|number: u128| number > 100 && power(number))
    };
    let rule = message.split(',').next().unwrap_or_default();
    if let Some((least, most)) = rule.strip_prefix("must be from ").and_then(|range| range.split_once(" to "))
    {
        return (least == "0" || is_end(least)) && is_end(most);
    }
    ["must be at most ", "must be at least "]
        .iter()
        .find_map(|start| rule.strip_prefix(start))
        .is_some_and(is_end)
}

/// Whether a map in the form of pairs has a duplicate key, which no array schema forbids.
fn is_key_again(message: &str) -> bool {
    message.starts_with("the key ") && message.contains(" is given twice")
}

/// Whether a loss or a trim was reported at this location of the arguments, or at one that contains it. A loss inside a
/// named schema may be anywhere.
fn is_told(problem: &str, places: &[String]) -> bool {
    let names: Vec<&str> =
        problem.split('/').filter(|part| !part.is_empty() && part.parse::<u64>().is_err()).collect();
    places.iter().any(|pointer| {
        if pointer.starts_with("/$defs/") {
            return true;
        }
        let mut parts = pointer.split('/');
        let mut at = names.iter();
        // The field names on the path to the loss are those on the path to the problem.
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

/// Samples one string of a grammar, or `None` if it does not end in time.
fn draw(mut matcher: Matcher, random: &mut Random, masks: &mut usize) -> Option<String> {
    let mut text: Vec<u8> = Vec::new();
    let mut allowed: Vec<(u32, u32)> = Vec::new();
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
        allowed.clear();
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

/// A small generator (xorshift), so that findings are reproducible.
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
