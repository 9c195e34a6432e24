//! Random conditions and calls, decided by the crate `cel` and by us.

use cel::{Context, Program, Value as CelValue};
use serde_json::{Map, Value, json};
use toolgen_core::Text;

use super::tool;
use crate::{Action, CallView, Matched, Rule, Rules};

/// A generator of random numbers: the same for everybody.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit
    }

    pub(super) fn of<'t, T: ?Sized>(&mut self, items: &[&'t T]) -> &'t T {
        items[self.below(items.len())]
    }
}

const INTS: [&str; 9] = ["0", "1", "2", "3", "100", "700", "-5", "10000", "9223372036854775807"];
const DOUBLES: [&str; 6] = ["0.5", "2.0", "-1.25", "700.0", "1e3", "99.75"];
const STRINGS: [&str; 6] = ["'gift'", "'loan'", "'a'", "''", "'Ada'", "'ä'"];

pub(super) fn int(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 6 } else { 11 }) {
        0 | 1 => "args.amount".to_owned(),
        2 => "args.level".to_owned(),
        3 => random.of(&INTS).to_owned(),
        4 => format!("size({})", random.of(&["args.to", "args.tags", "args.parts", "args.kind"])),
        5 => "context.depth".to_owned(),
        6 => format!("args.parts[{}]", random.below(4)),
        7 => format!(
            "({} ? {} : {})",
            boolean(random, depth - 1),
            int(random, depth - 1),
            int(random, depth - 1)
        ),
        8 => format!("-({})", int(random, depth - 1)),
        _ => {
            let sign = random.of(&["+", "-", "*", "/", "%"]);
            format!("({} {sign} {})", int(random, depth - 1), int(random, depth - 1))
        }
    }
}

fn double(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 3 } else { 4 }) {
        0 | 1 => "args.price".to_owned(),
        2 => random.of(&DOUBLES).to_owned(),
        _ => {
            let sign = random.of(&["+", "-", "*"]);
            format!("({} {sign} {})", double(random, depth - 1), double(random, depth - 1))
        }
    }
}

fn string(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 5 } else { 6 }) {
        0 => "args.to".to_owned(),
        1 => "args.kind".to_owned(),
        2 => "args.from.iban".to_owned(),
        3 => random.of(&["principal.name", "tool.name", "tool.category", "context.session"]).to_owned(),
        4 => random.of(&STRINGS).to_owned(),
        _ => format!("({} + {})", string(random, depth - 1), string(random, depth - 1)),
    }
}

pub(super) fn boolean(random: &mut Random, depth: usize) -> String {
    let order = |random: &mut Random| *random.of(&[&"==", &"!=", &"<", &"<=", &">", &">="]);
    match random.below(if depth == 0 { 14 } else { 20 }) {
        0 | 1 => format!("{} {} {}", int(random, depth.min(1)), order(random), random.of(&INTS)),
        2 => format!("{} {} {}", int(random, depth.min(2)), order(random), int(random, depth.min(1))),
        3 => format!("{} {} {}", double(random, depth.min(1)), order(random), double(random, 0)),
        4 => format!("{} {} {}", int(random, 0), order(random), double(random, 0)),
        5 => format!("{} {} {}", string(random, depth.min(1)), order(random), random.of(&STRINGS)),
        6 => {
            let method = random.of(&["startsWith", "endsWith", "contains"]);
            format!("{}.{method}({})", string(random, 0), random.of(&STRINGS))
        }
        7 => format!("args.kind in [{}, {}]", random.of(&STRINGS), random.of(&STRINGS)),
        8 => format!("{} in args.tags", random.of(&STRINGS)),
        9 => {
            format!("args.parts.{}(p, p {} {})", random.of(&["all", "exists"]), order(random), int(random, 0))
        }
        10 => "args.fast".to_owned(),
        11 => format!("(has(args.note) && args.note {} {})", order(random), random.of(&STRINGS)),
        12 => format!("(args.memo != null && args.memo.contains({}))", random.of(&STRINGS)),
        13 => format!("principal.has({})", random.of(&["'read'", "'pay'"])),
        14 => format!("!({})", boolean(random, depth - 1)),
        15 | 16 => format!("({} && {})", boolean(random, depth - 1), boolean(random, depth - 1)),
        17 | 18 => format!("({} || {})", boolean(random, depth - 1), boolean(random, depth - 1)),
        _ => format!(
            "({} ? {} : {})",
            boolean(random, depth - 1),
            boolean(random, depth - 1),
            boolean(random, depth - 1)
        ),
    }
}

/// Returns valid arguments of the tool.
pub(super) fn call(random: &mut Random) -> Value {
    let amount = [0, 1, 2, 3, 99, 100, 101, 700, 5000, 9999, 10000][random.below(11)];
    let price =
        [json!(5), json!(0.5), json!(-1.25), json!(700), json!(1e3), json!(99.75)][random.below(6)].clone();
    let list = |random: &mut Random, items: &[Value]| -> Value {
        (0..random.below(4)).map(|_| items[random.below(items.len())].clone()).collect()
    };
    let memo = [json!(null), json!("a"), json!("gift")][random.below(3)].clone();
    let mut arguments = json!({
        "amount": amount, "price": price, "to": random.of(&["a", "Ada", "gift", "ä"]),
        "kind": random.of(&["gift", "loan", "wage"]), "fast": random.below(2) == 0,
        "tags": list(random, &[json!("a"), json!("gift"), json!("")]),
        "parts": list(random, &[json!(0), json!(1), json!(100), json!(-5)]),
        "memo": memo,
        "level": random.below(5), "from": {"iban": random.of(&["a", "gift"])}, "extra": null,
    });
    if random.below(2) == 0 {
        arguments["note"] = json!(random.of(&["", "a", "gift"]));
    }
    arguments
}

/// Converts to the other crate's values, numbers by their types in the schema.
fn cel_value(value: &Value, is_double: bool) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(value) => CelValue::Bool(*value),
        Value::Number(number) => match number.as_i64().filter(|_| !is_double) {
            Some(number) => CelValue::Int(number),
            None => CelValue::Float(number.as_f64().unwrap()),
        },
        Value::String(text) => CelValue::from(text.as_str()),
        Value::Array(items) => {
            CelValue::from(items.iter().map(|item| cel_value(item, false)).collect::<Vec<_>>())
        }
        Value::Object(members) => cel_map(members),
    }
}

fn cel_map(members: &Map<String, Value>) -> CelValue {
    let members: std::collections::HashMap<String, CelValue> =
        members.iter().map(|(name, value)| (name.clone(), cel_value(value, name == "price"))).collect();
    CelValue::from(members)
}

/// Compares conditions with their values by the other crate: a number of conditions, each with this many calls.
fn compare(conditions: usize, calls: usize) {
    let spec = tool();
    let mut random = Random::new(7);
    let scopes = [Text::Static("read")];
    let (mut values, mut failures) = (0, 0);
    for _ in 0..conditions {
        let condition = boolean(&mut random, 3);
        let rule = Rule::new(Action::Deny, "pay", Some(&condition))
            .unwrap_or_else(|error| panic!("{condition}: {error}"));
        let rules: Rules = [rule].into_iter().collect();
        // Conditions whose types do not fit, such as an integer that may be a double, are not random enough to check.
        rules.check([&spec]).unwrap_or_else(|error| panic!("{error}"));
        let compiled = rules.for_tool(&spec);
        // `principal.has("x")` is ours.
        let theirs = condition.replace("principal.has('read')", "('read' in principal.scopes)");
        let theirs = theirs.replace("principal.has('pay')", "('pay' in principal.scopes)");
        let program = Program::compile(&theirs).unwrap_or_else(|error| panic!("{theirs}: {error}"));
        // What we write is read back as the same.
        let written = rules.as_slice()[0].when.as_ref().unwrap().expr.to_string();
        assert_eq!(crate::syntax::parse(&written).unwrap().to_string(), written, "{condition}");
        for _ in 0..calls {
            let arguments = call(&mut random);
            let principal = (random.below(2) == 0).then_some(("gift", &scopes[..]));
            let mut view = CallView::new(&arguments).with_session("a").with_depths(2, 0);
            view.principal = principal;
            let ours = compiled.applying(&view).next().map_or(Matched::No, |(_, _, matched)| matched);
            let mut context = Context::default();
            context.add_variable_from_value("args", cel_value(&arguments, false));
            let (name, scopes) = principal.map_or(("", json!([])), |(name, _)| (name, json!(["read"])));
            context.add_variable_from_value(
                "principal",
                cel_value(&json!({"name": name, "scopes": scopes}), false),
            );
            context
                .add_variable_from_value("context", cel_value(&json!({"session": "a", "depth": 2}), false));
            context.add_variable_from_value(
                "tool",
                cel_value(&json!({"name": "pay", "category": "money"}), false),
            );
            let expected = program.execute(&context);
            match (&ours, &expected) {
                (Matched::Yes, Ok(CelValue::Bool(true))) | (Matched::No, Ok(CelValue::Bool(false))) => {
                    values += 1;
                }
                (Matched::Failed(_), Err(_)) => failures += 1,
                _ => panic!(
                    "{condition}\nwith {arguments} {principal:?}\nis {ours:?}, and {expected:?} by the other crate"
                ),
            }
        }
    }
    println!("{values} equal values, {failures} equal failures");
    assert!(values > 9 * failures, "{values} values, {failures} failures");
}

#[test]
fn conditions_agree_with_the_other_implementation() {
    compare(250, 40);
}

#[test]
#[ignore = "heavy: soak"]
fn a_million_decisions_agree_with_the_other_implementation() {
    compare(50_000, 20);
}
