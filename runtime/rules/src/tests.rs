//! Tests of conditions, their checks and reports.

mod oracle;
mod reports;
mod speed;

use serde_json::{Value, json};
use toolgen_core::spec::Network;
use toolgen_core::{Effects, Schema, Text, ToolName, ToolSpec};

use crate::{Action, CallView, Matched, Rule, Rules};

/// A tool with arguments of all types.
pub(crate) fn tool() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("pay"),
        category: Text::Static("money"),
        effects: Effects { destructive: true, network: Network::Any, ..Effects::NONE },
        input: Schema::text(
            r##"{"type":"object","properties":{
                "amount":{"type":"integer","minimum":0,"maximum":10000},
                "price":{"type":"number"},
                "to":{"type":"string","minLength":1},
                "kind":{"enum":["gift","loan","wage"]},
                "fast":{"type":"boolean"},
                "tags":{"type":"array","items":{"type":"string"},"maxItems":5},
                "parts":{"type":"array","items":{"type":"integer"}},
                "note":{"type":"string"},
                "memo":{"type":["string","null"]},
                "level":{"type":"integer","default":3},
                "from":{"type":"object","properties":{"iban":{"type":"string"},"limit":{"type":"integer"}},"required":["iban"],"additionalProperties":false},
                "extra":{}
            },"required":["amount","price","to","kind","fast","tags","parts","memo","from","extra"],"additionalProperties":false}"##,
        ),
        ..ToolSpec::EMPTY
    }
}

/// Valid arguments of the tool.
pub(crate) fn arguments() -> Value {
    json!({
        "amount": 700, "price": 5, "to": "Ada", "kind": "gift", "fast": true, "tags": ["a", "b"], "parts": [1, 2, 3],
        "memo": null, "level": 3, "from": {"iban": "DE1"}, "extra": {"deep": [1]}
    })
}

fn scopes() -> Vec<Text> {
    vec![Text::Static("read"), Text::Static("write")]
}

fn matched(condition: &str) -> Matched {
    let (spec, arguments, scopes) = (tool(), arguments(), scopes());
    let rule = Rule::new(Action::Deny, "pay", Some(condition))
        .unwrap_or_else(|error| panic!("{condition}: {error}"));
    let rules: Rules = [rule].into_iter().collect();
    rules.check([&spec]).unwrap_or_else(|error| panic!("{error}"));
    let call = CallView::new(&arguments).with_principal("ada", &scopes).with_session("s1").with_depths(1, 0);
    let compiled = rules.for_tool(&spec);
    let matched = compiled.applying(&call).next().map_or(Matched::No, |(_, _, matched)| matched);
    assert_eq!(rules.explain(&spec, &call)[0].matched, matched, "{condition}");
    matched
}

#[test]
fn conditions_have_the_values_of_cel() {
    let holds = [
        "args.amount == 700",
        "args.amount != 701 && args.amount >= 700 && args.amount <= 700",
        "args.amount > 699.5 && !(args.amount > 700)",
        "args.price == 5 && args.price / 2.0 == 2.5",
        "args.amount % 300 == 100 && -args.amount < 0",
        "args.amount * 2 + 1 - 1 == 1400",
        "args.to.startsWith('A') && args.to.endsWith(\"a\") && args.to.contains('d')",
        "args.to.matches('^[A-Z][a-z]+$')",
        "args.to + '!' == 'Ada!' && size(args.to) == 3 && args.to.size() < 4",
        "args.kind in ['gift', 'loan'] && !(args.kind in [])",
        "'a' in args.tags && args.tags.exists(t, t == 'b') && args.tags.all(t, size(t) == 1)",
        "args.parts.exists(p, p > 2) && !args.parts.all(p, p > 2)",
        "args.parts[0] == 1 && args.tags == ['a', 'b']",
        "args.memo == null && !has(args.note) && has(args.level)",
        "has(args.note) && args.note == 'x' || args.fast",
        "'note' in args ? args.note == '' : args.from.iban == 'DE1'",
        "has(args.from.limit) || args['amount'] == 700",
        "args.extra.deep[0] == 1",
        "principal.name == 'ada' && principal.has('write') && !principal.has('pay') && has(principal.name)",
        "'read' in principal.scopes && size(principal.scopes) == 2",
        "context.session == 's1' && context.agent == '' && context.depth == 1 && context.agent_depth == 0",
        "tool.name == 'pay' && tool.category == 'money' && 'destructive' in tool.effects",
        "(args.fast ? 1 : 2) == 1 && args.fast == true && args.fast != false",
        "'\\u00e4\\n' == 'ä\\n' && 'b' > 'a' && 1e3 == 1000",
        "args.level == 3",
    ];
    for condition in holds {
        assert_eq!(matched(condition), Matched::Yes, "{condition}");
        assert_eq!(matched(&format!("!({condition})")), Matched::No, "{condition}");
    }
}

#[test]
fn a_condition_without_a_value_counts_as_matched() {
    let overflow = "args.amount * 9223372036854775807 > 0";
    assert_eq!(matched(overflow), Matched::Failed("an integer overflows".to_owned()));
    assert_eq!(
        matched("args.amount / (args.amount - 700) > 0"),
        Matched::Failed("a division by zero".to_owned())
    );
    assert_eq!(matched("args.parts[7] > 0"), Matched::Failed("the index 7 does not exist".to_owned()));
    assert_eq!(
        matched("args.extra > 0"),
        Matched::Failed("an object and an integer have no order".to_owned())
    );
    // A side that decides alone does so.
    assert_eq!(matched(&format!("{overflow} && args.amount < 0")), Matched::No);
    assert_eq!(matched(&format!("{overflow} || args.amount > 0")), Matched::Yes);
}

#[test]
fn a_call_without_a_principal_has_no_scopes() {
    let (spec, arguments) = (tool(), arguments());
    let rules = Rules::parse([
        "deny pay when principal.has('x') || 'x' in principal.scopes || has(principal.name) || principal.name != ''",
    ])
    .unwrap();
    assert_eq!(rules.for_tool(&spec).deciding(&CallView::new(&arguments)), None);
}

#[test]
fn rule_that_was_not_checked_matches_every_call() {
    let (spec, arguments) = (tool(), arguments());
    let rules = Rules::parse(["deny pay when args.nothing"]).unwrap();
    let compiled = rules.for_tool(&spec);
    assert_eq!(compiled.deciding(&CallView::new(&arguments)).map(|(index, _)| index), Some(0));
}

#[test]
fn problems_have_places_and_say_what_to_do() {
    let cases = [
        (
            "args.amout > 5",
            "at column 1: the tool `pay` has no argument `amout`; did you mean `args.amount`?",
        ),
        ("args.fast && arg.fast", "at column 14: unknown variable `arg`; did you mean `args`?"),
        ("amount > 5", "at column 1: unknown variable `amount`; write `args.amount`"),
        (
            "args.amount > '5'",
            "at column 1: `args.amount` is an integer, and `\"5\"` a string; compare values of one type: write `5`",
        ),
        (
            "args.to == 5",
            "at column 1: `args.to` is a string, and `5` an integer; compare values of one type",
        ),
        (
            "args.amount",
            "at column 1: `args.amount` is an integer, not a boolean; compare it with something: `==`, `<`, `in`",
        ),
        (
            "args.note == 'x'",
            "at column 1: `args.note` is optional, and may be absent; write `has(args.note) && …` before it",
        ),
        (
            "size(args.memo) > 2",
            "at column 6: `args.memo` may be null; write `args.memo != null && …` before it",
        ),
        (
            "args.amount == null",
            "at column 1: `args.amount` is never null; `has(args.name)` asks whether an argument is given",
        ),
        (
            "args.price * 2 > 1",
            "at column 1: `args.price` is a number, and `2` an integer: `*` does not apply; write `2.0`",
        ),
        ("args.to.startWith('x')", "at column 1: unknown method `startWith`; did you mean `startsWith`?"),
        (
            "args.to.matches('(')",
            "at column 17: \"(\" is not a regular expression; write an expression of ECMA-262, as in JSON Schema",
        ),
        (
            "args.to in 'Ada'",
            "at column 12: `\"Ada\"` is a string, and contains no items; write `\"Ada\".contains(args.to)`",
        ),
        (
            "args.kind in ['gift', 1]",
            "at column 23: the items of a list are a string and an integer; give all items the same type",
        ),
        (
            "principal.role == 'x'",
            "at column 1: `principal` has no member `role`; write one of `principal.name`, `principal.scopes`",
        ),
        ("context.dept == 1", "at column 1: `context` has no member `dept`; did you mean `context.depth`?"),
        (
            "args.from.ibn == ''",
            "at column 1: `args.from` has no member `ibn`; did you mean `args.from.iban`?",
        ),
        (
            "args.tags.all(args, true)",
            "at column 1: the name `args` is taken; choose another name for the items",
        ),
        (
            "args.amount > 5 and true",
            "at column 17: expected an operator, or the end of the condition, found `and`; write `&&`",
        ),
        ("args.amount = 5", "at column 13: unexpected character '='; write `==`"),
        ("args.to == 'x", "at column 12: the string does not end; close it with '"),
        (
            "args.amount > ",
            "at column 14: expected a value, found the end of the condition; write a value here",
        ),
        (
            "args.amount > 99999999999999999999",
            "at column 15: the number `99999999999999999999` is too large; integers have at most 64 bits, and are written in decimal, without `_` or a suffix",
        ),
        (
            "args.memo != null || args.memo > ''",
            "at column 22: `args.memo` may be null; write `args.memo != null && …` before it",
        ),
    ];
    let spec = tool();
    for (condition, expected) in cases {
        let problem = match Rule::new(Action::Deny, "pay", Some(condition)) {
            Err(problem) => problem.to_string(),
            Ok(rule) => {
                let rules: Rules = [rule].into_iter().collect();
                let error = rules.check([&spec]).expect_err(condition);
                assert_eq!(error.problems.len(), 1, "{condition}: {error}");
                error.problems[0].problem.to_string()
            }
        };
        assert_eq!(problem, expected, "{condition}");
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let rules =
        Rules::parse(["deny pay when args.x > 1 && args.to > 2", "ask pya", "deny get_* when args.x"])
            .unwrap();
    let error = rules.check([&tool()]).unwrap_err();
    let kinds: Vec<_> = error.problems.iter().map(|problem| (problem.rule, problem.problem.kind)).collect();
    use crate::ProblemKind::{Type, UnknownName, UnknownTool};
    assert_eq!(kinds, [(0, UnknownName), (0, Type), (1, UnknownTool), (2, UnknownTool)]);
    assert!(
        error.to_string().contains("rule 2 `ask pya`: `pya` selects no tool; did you mean `pay`?"),
        "{error}"
    );
}

#[test]
fn pattern_checks_each_tool_that_has_the_arguments() {
    let other = ToolSpec { name: ToolName::new("pay_back"), ..ToolSpec::EMPTY };
    let rules = Rules::parse(["deny pay* when args.amount > 1", "deny pay_b* when args.amount > 1"]).unwrap();
    let error = rules.check([&tool(), &other]).unwrap_err();
    assert_eq!(error.problems.len(), 1);
    assert!(
        error.to_string().ends_with("the tool `pay_back` has no argument `amount`; it has none"),
        "{error}"
    );
    // A pattern is about the tools that have the arguments.
    assert!(rules.as_slice()[0].selects(&tool()) && !rules.as_slice()[0].selects(&other));
    let rules = Rules::parse(["deny pay* when args.amount > 'x'"]).unwrap();
    let error = rules.check([&other, &tool()]).unwrap_err().to_string();
    assert!(error.contains("for the tool `pay`: `args.amount` is an integer"), "{error}");
}

#[test]
fn rules_are_lines() {
    let lines = [
        "deny pay when args.amount > 5000 && !principal.has(\"treasurer\")",
        "ask effect:destructive",
        "rate pay 10 per 1m when args.amount > 100",
        "rate category:money effect:network 1 per 36h",
        "deny *",
    ];
    let rules = Rules::parse(lines).unwrap();
    let written: Vec<String> = rules.as_slice().iter().map(ToString::to_string).collect();
    assert_eq!(written, lines);
    let problems = [
        ("", "the rule is empty; write `deny`, `ask` or `rate`, and tools"),
        (
            "allow pay",
            "there are no `allow` rules: the most restrictive rule decides; write the exception into the condition of the other rule: `deny pay when !(…)`",
        ),
        ("denies pay", "unknown rule `denies`; a rule starts with `deny`, `ask` or `rate`"),
        ("rate pay", "a rate has a limit and a window; write `rate TOOLS 10 per 1m`"),
        ("rate pay ten per 1m", "`ten` is not a number of calls; write `rate TOOLS 10 per 1m`"),
        (
            "rate pay 10 per minute",
            "`minute` is not a duration; write `30s`, `1m` or `2h`; write `rate TOOLS 10 per 1m`",
        ),
        ("rate pay 0 per 1m", "the limit of a rate is zero; use `deny` to refuse all calls"),
        (
            "deny when true",
            "`` selects no tools: it is empty; write a name, `category:…` or `effect:…`; `*` selects all tools",
        ),
        (
            "deny effect:bad",
            "`effect:bad` selects no tools: unknown effect 'bad'; use one of read_only, mutating, destructive, idempotent, open_world, network, files_read, files_write, spawns, undeclared; write a name, `category:…` or `effect:…`; `*` selects all tools",
        ),
        (
            "deny pay when",
            "at column 1: expected a value, found the end of the condition; write a value here",
        ),
    ];
    for (line, expected) in problems {
        assert_eq!(Rule::parse(line).unwrap_err().to_string(), expected, "{line}");
    }
}

#[test]
fn deep_and_long_conditions_are_refused_without_a_stack_overflow() {
    let deep = format!("{}true{}", "(".repeat(1_000), ")".repeat(1_000));
    let chain = vec!["args.fast"; 300].join(" && ");
    let calls = format!("args{}", ".x".repeat(1_000));
    let nots = format!("{}true", "!".repeat(3_000));
    for condition in [&deep, &chain, &nots, &calls] {
        let problem = Rule::new(Action::Deny, "pay", Some(condition)).unwrap_err();
        assert!(problem.message.contains("levels deep"), "{problem}");
    }
    let long = format!("'{}' == ''", "x".repeat(5_000));
    assert!(Rule::new(Action::Deny, "pay", Some(&long)).unwrap_err().message.contains("bytes"));
}

#[cfg(feature = "layer")]
#[test]
fn layer_compiles_once_per_tool_and_never_uses_the_rules_of_another() {
    use std::sync::Arc;

    let layer = crate::RulesLayer::new(Rules::parse(["deny pay when args.amount > 1"]).unwrap());
    let (spec, other) = (tool(), ToolSpec { category: Text::Static("other"), ..tool() });
    let schema =
        r#"{"type":"object","properties":{"amount":{"type":"string"}},"additionalProperties":false}"#;
    let changed = ToolSpec { input: Schema::text(schema), ..tool() };
    let first = layer.compiled(&spec);
    assert!(Arc::ptr_eq(&first, &layer.compiled(&spec)));
    let copy = spec.clone();
    assert!(Arc::ptr_eq(&first, &layer.compiled(&copy)) && Arc::ptr_eq(&first, &layer.compiled(&spec)));
    for spec in [&other, &changed, &tool()] {
        assert!(!Arc::ptr_eq(&first, &layer.compiled(spec)));
    }
}
