//! Reports of rules without effect, and of changes, confirmed by random calls.

use std::time::Duration;

use super::oracle::{Random, boolean, call};
use super::tool;
use crate::{Action, CallView, ProblemKind, Rule, RuleChangeKind, Rules};

fn reports(lines: &[&str]) -> Vec<(usize, ProblemKind)> {
    let rules = Rules::parse(lines).unwrap();
    rules.check([&tool()]).unwrap();
    rules.reports([&tool()]).into_iter().map(|report| (report.rule, report.problem.kind)).collect()
}

#[test]
fn rules_that_never_match_are_reported() {
    let never = [
        "args.amount > 10 && args.amount < 5",
        "args.amount > 10 && args.amount < 11",
        "args.amount > 10000",
        "args.amount < 0 || args.amount == 20000",
        "args.kind == 'gift' && args.kind == 'loan'",
        "args.kind == 'rent'",
        "!(args.kind in ['gift', 'loan', 'wage'])",
        "size(args.to) == 0",
        "size(args.tags) > 5",
        "args.fast && !args.fast",
        "args.fast == true && args.fast == false",
        "principal.has('x') && !('x' in principal.scopes)",
        "tool.name == 'other'",
        "!has(args.amount)",
        "(args.fast ? args.amount : 5) > 3 && (args.fast ? args.amount : 5) < 3",
        "args.price > 1 && 1 > args.price",
        "args.to < args.kind && !(args.kind > args.to)",
        "false",
    ];
    for condition in never {
        assert_eq!(
            reports(&[&format!("deny pay when {condition}")]),
            [(0, ProblemKind::Never)],
            "{condition}"
        );
    }
    let sometimes = [
        "args.amount >= 10000",
        "args.price > 10 && args.price < 11",
        "args.memo != 'a' && args.memo != null",
        "args.to == 'a' || args.to == 'b'",
        "has(args.note) && !args.fast",
        // It has no value for some calls, and then matches.
        "args.amount / args.amount > 10 && args.amount / args.amount < 5",
        "args.parts[0] > 1 && args.parts[0] < 1",
    ];
    for condition in sometimes {
        assert_eq!(reports(&[&format!("deny pay when {condition}")]), [], "{condition}");
    }
}

#[test]
fn shadowed_and_contradictory_rules_are_reported() {
    use ProblemKind::{Contradiction, Shadowed};
    assert_eq!(
        reports(&["deny pay when args.amount > 10", "ask pay when args.amount > 20"]),
        [(1, Shadowed)]
    );
    assert_eq!(reports(&["ask pay when args.amount > 20", "deny pay"]), [(0, Shadowed)]);
    assert_eq!(
        reports(&["deny pay when args.amount > 10", "deny pay when args.amount > 20"]),
        [(1, Shadowed)]
    );
    assert_eq!(
        reports(&[
            "deny pay when args.fast",
            "deny pay when !args.fast",
            "ask category:money when args.amount > 1"
        ]),
        [(2, Shadowed)]
    );
    assert_eq!(
        reports(&["deny pay when args.amount > 10", "ask pay when 10 < args.amount"]),
        [(1, Contradiction)]
    );
    assert_eq!(reports(&["rate * 1 per 1m", "deny pay"]), [(0, Contradiction)]);
    // A condition that fails fails for both.
    assert_eq!(
        reports(&[
            "deny pay when args.amount / args.level > 1",
            "ask pay when ((args.amount / args.level) > 1)"
        ]),
        [(1, Contradiction)]
    );
    assert_eq!(reports(&["deny pay when args.amount > 20", "ask pay when args.amount > 10"]), []);
    assert_eq!(reports(&["ask pay", "rate pay 1 per 1m"]), []);
    assert_eq!(reports(&["rate pay 1 per 1m", "rate pay 10 per 1h"]), []);
    let rules = Rules::parse(["deny pay", "ask pay when args.fast"]).unwrap();
    assert_eq!(
        rules.reports([&tool()])[0].to_string(),
        "rule 2 `ask pay when args.fast`: rule 1 `deny pay` already decides all its calls; remove this rule, or narrow \
         the other"
    );
}

#[test]
fn changes_of_rules_are_looser_or_tighter() {
    use RuleChangeKind::{Looser, Same, Tighter};
    let changes = |old: &[&str], new: &[&str]| -> Vec<RuleChangeKind> {
        let (old, new) = (Rules::parse(old).unwrap(), Rules::parse(new).unwrap());
        let spec = tool();
        old.changes(&new, [(&spec, &spec)]).into_iter().map(|change| change.kind).collect()
    };
    assert_eq!(changes(&["deny pay when args.amount > 10"], &["deny pay when 10 < args.amount"]), [Same]);
    assert_eq!(changes(&["deny pay when args.amount > 10"], &["deny pay when args.amount > 20"]), [Looser]);
    assert_eq!(
        changes(&["deny pay when args.amount > 20"], &["deny pay when args.amount > 10"]),
        [Tighter, Same]
    );
    assert_eq!(changes(&["deny pay"], &[]), [Looser]);
    assert_eq!(changes(&["ask pay"], &["deny pay"]), [Tighter, Same]);
    assert_eq!(changes(&["deny pay"], &["ask pay"]), [Looser]);
    assert_eq!(changes(&["deny pay"], &["deny pay when args.fast", "deny pay when !args.fast"]), [Same]);
    assert_eq!(changes(&["rate pay 10 per 1m"], &["rate pay 20 per 1m"]), [Looser]);
    assert_eq!(changes(&["rate pay 10 per 1m"], &["rate pay 10 per 2m"]), [Tighter, Same]);
    // Each half counts its own calls.
    assert_eq!(
        changes(
            &["rate pay 9 per 1m"],
            &["rate pay 9 per 1m when args.fast", "rate pay 9 per 1m when !args.fast"]
        ),
        [Looser]
    );
    assert_eq!(changes(&["deny pay when args.kind == 'rent'"], &[]), [Same]);
    assert_eq!(
        changes(&["deny pay when args.to.contains('x')"], &["deny pay when args.to.contains('y')"]),
        [Looser, Tighter]
    );
}

/// Returns a random condition of which the decision procedure knows something.
fn simple(random: &mut Random, depth: usize) -> String {
    let order = *random.of(&[&"<", &"<=", &">", &">=", &"==", &"!="]);
    match random.below(if depth == 0 { 8 } else { 12 }) {
        0..=2 => format!("args.amount {order} {}", random.of(&["0", "1", "100", "101", "700", "10000"])),
        3 => format!(
            "args.kind {} '{}'",
            random.of(&["==", "!="]),
            random.of(&["gift", "loan", "wage", "rent"])
        ),
        4 => format!("args.kind in ['gift', '{}']", random.of(&["loan", "wage"])),
        5 => format!("args.price {order} {}", random.of(&["0.5", "5", "99.75"])),
        6 => "args.fast".to_owned(),
        7 => boolean(random, 1),
        8 => format!("!({})", simple(random, depth - 1)),
        9 | 10 => format!("({} && {})", simple(random, depth - 1), simple(random, depth - 1)),
        _ => format!("({} || {})", simple(random, depth - 1), simple(random, depth - 1)),
    }
}

fn random_rules(random: &mut Random, count: usize) -> Rules {
    let rule = |_| {
        let action = match random.below(3) {
            0 => Action::Deny,
            1 => Action::Ask,
            _ => Action::Rate { limit: 3, per: Duration::from_secs(60) },
        };
        Rule::new(action, "pay", Some(&simple(random, 2))).unwrap()
    };
    (0..count).map(rule).collect()
}

/// Checks the reports of random rules with random calls.
fn confirm(sets: usize, calls: usize) {
    let spec = tool();
    let mut random = Random::new(11);
    let (mut never, mut shadowed, mut twins, mut kept) = (0, 0, 0, 0);
    for _ in 0..sets {
        let (rules, newer) = (random_rules(&mut random, 4), random_rules(&mut random, 4));
        let reports = rules.reports([&spec]);
        let looser = rules.changes(&newer, [(&spec, &spec)]);
        let looser: Vec<String> = looser
            .into_iter()
            .filter(|change| change.kind == RuleChangeKind::Looser)
            .map(|change| change.rule)
            .collect();
        let (compiled, newer_compiled) = (rules.for_tool(&spec), newer.for_tool(&spec));
        for _ in 0..calls {
            let arguments = call(&mut random);
            let view = CallView::new(&arguments);
            let applying: Vec<(usize, Action)> =
                compiled.applying(&view).map(|(index, rule, _)| (index, rule.action())).collect();
            for report in &reports {
                let applies = applying.iter().any(|(index, _)| *index == report.rule);
                let action = rules.as_slice()[report.rule].action();
                let is_decided = applying.iter().any(|(index, other)| {
                    *other == Action::Deny && action != Action::Deny
                        || *other == action && *index < report.rule && !matches!(action, Action::Rate { .. })
                });
                match report.problem.kind {
                    ProblemKind::Never => assert!(!applies, "{report} with {arguments}"),
                    _ => assert!(!applies || is_decided, "{report} with {arguments}"),
                }
            }
            let newest: Vec<Action> =
                newer_compiled.applying(&view).map(|(_, rule, _)| rule.action()).collect();
            for (index, action) in &applying {
                if !looser.contains(&rules.as_slice()[*index].to_string()) {
                    let is_kept = newest.iter().any(|other| *other == Action::Deny || other == action);
                    assert!(is_kept, "{} by {newer:?} with {arguments}", rules.as_slice()[*index]);
                    kept += 1;
                }
            }
        }
        let count = |kind| reports.iter().filter(|report| report.problem.kind == kind).count();
        never += count(ProblemKind::Never);
        shadowed += count(ProblemKind::Shadowed);
        twins += count(ProblemKind::Contradiction);
    }
    println!(
        "{sets} sets of rules: {never} never, {shadowed} shadowed, {twins} contradictory; {kept} decisions kept"
    );
    assert!(never > sets / 50 && shadowed > sets / 50 && kept > sets, "{never} {shadowed} {twins} {kept}");
}

#[test]
fn reports_are_confirmed_by_random_calls() {
    confirm(200, 50);
}

#[test]
#[ignore = "heavy: soak"]
fn many_reports_are_confirmed_by_random_calls() {
    confirm(5_000, 200);
}
