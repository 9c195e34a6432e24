//! Decodes values with the types that toolgen and typify generate for the same schemas, and compares the results.
//!
//! Values are generated from each schema. Our type must accept what typify's type accepts, and must keep the whole
//! value, or exactly what typify keeps. Prints the comparisons, and exits with 1 if anything differs.

mod draw;

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[allow(clippy::all, unused, unused_comparisons, reason = "generated")]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/cases.rs"));
}

/// A schema and its two types.
pub struct Case {
    document: &'static str,
    schema: &'static str,
    /// All selected schemas of the document.
    root: &'static str,
    ours: fn(&Value) -> Result<Value, String>,
    theirs: fn(&Value) -> Result<Value, String>,
}

/// Deserializes a value as a type, and serializes it again.
pub fn through<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Value, String> {
    let typed: T = serde_json::from_value(value.clone()).map_err(|why| why.to_string())?;
    serde_json::to_value(&typed).map_err(|why| why.to_string())
}

/// Whether two values are equal; `1` equals `1.0`.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

/// The result of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Both keep the whole value.
    Equal,
    /// Ours keeps the whole value. Typify omitted `null` or an empty array, added a default, reformatted a time, or
    /// lost fields of a union, because it uses the first matching variant.
    OursKeepsMore,
    /// Both change it in the same way.
    BothChange,
    /// Only ours accepts it: typify checks more, and rejects what services send despite their documents.
    OnlyOurs,
    /// Both reject it.
    Neither,
    /// Typify accepts or keeps what ours does not, which is a defect of ours.
    Wrong,
}

fn judge(case: &Case, value: &Value) -> (Outcome, String) {
    let outcome = match ((case.ours)(value), (case.theirs)(value)) {
        (Ok(ours), Ok(theirs)) if same(&ours, value) => {
            if same(&theirs, value) {
                Outcome::Equal
            } else {
                Outcome::OursKeepsMore
            }
        }
        (Ok(ours), Ok(theirs)) if same(&ours, &theirs) => Outcome::BothChange,
        (Ok(_), Err(_)) => Outcome::OnlyOurs,
        (Err(_), Err(_)) => Outcome::Neither,
        (ours, theirs) => {
            let told = format!(
                "{} {}: {value}\n  ours:   {ours:?}\n  theirs: {theirs:?}",
                case.document, case.schema
            );
            return (Outcome::Wrong, told);
        }
    };
    (outcome, String::new())
}

/// Number of values generated per schema.
const VALUES: u64 = 24;

fn main() -> ExitCode {
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    let (mut wrong, mut without) = (Vec::new(), 0);
    for case in generated::CASES {
        let root: Value = serde_json::from_str(case.root).unwrap();
        let mut values = draw::Values::new(&root, case.schema);
        let mut drawn = 0;
        for seed in 0..VALUES {
            let Some(value) = values.valid(seed) else { continue };
            drawn += 1;
            let (outcome, told) = judge(case, &value);
            *outcomes.entry(outcome).or_default() += 1;
            if outcome == Outcome::Wrong {
                wrong.push(told);
            }
        }
        without += usize::from(drawn == 0);
    }
    let of = |outcome| outcomes.get(&outcome).copied().unwrap_or_default();
    println!(
        "{} documents; typify takes {} of {} schemas, {without} of them without a value that could be drawn",
        generated::DOCUMENTS,
        generated::TAKEN,
        generated::SCHEMAS
    );
    println!(
        "values: {} equal, ours keeps more of {}, both change {}, only ours takes {}, neither {}; {} wrong",
        of(Outcome::Equal),
        of(Outcome::OursKeepsMore),
        of(Outcome::BothChange),
        of(Outcome::OnlyOurs),
        of(Outcome::Neither),
        wrong.len()
    );
    wrong.iter().take(40).for_each(|told| println!("{told}"));
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
