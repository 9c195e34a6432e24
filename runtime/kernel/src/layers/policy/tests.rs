use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::spec::{Files, Network, ToolName};
use crate::{AgentTool, BoxFuture, Registry, ToolContext, ToolResult};

fn named(name: &str, effects: Effects) -> ToolSpec {
    ToolSpec { name: ToolName::parse(name.to_owned()).unwrap(), effects, ..ToolSpec::EMPTY }
}

fn network(hosts: &[&'static str]) -> Network {
    Network::Hosts(hosts.iter().copied().map(Text::Static).collect())
}

// ---- effects against limits: an independent model of both as sets of individual actions

/// The host names and ports of the model, including some that no policy names.
const NAMES: [&str; 7] = ["a.com", "x.a.com", "other.a.com", "y.x.a.com", "ba.com", "b.org", "other.net"];
const PORTS: [&str; 3] = ["80", "443", "other"];
const PATTERNS: [&str; 12] = [
    "a.com",
    "A.com",
    "a.com:80",
    "x.a.com",
    "X.A.COM:443",
    "*.a.com",
    "*.a.com:443",
    "*.x.a.com",
    "ba.com",
    "b.org.",
    "*",
    "*:80",
];

fn matches_endpoint(pattern: &str, name: &str, port: &str) -> bool {
    let pattern = pattern.to_lowercase();
    let (host, expected_port) =
        pattern.split_once(':').map_or((pattern.as_str(), None), |(host, port)| (host, Some(port)));
    let host_matches = match host {
        "*" => true,
        "*.a.com" => ["x.a.com", "other.a.com", "y.x.a.com"].contains(&name),
        "*.x.a.com" => name == "y.x.a.com",
        host => host.trim_end_matches('.') == name,
    };
    host_matches && expected_port.is_none_or(|expected_port| expected_port == port)
}

fn reachable(network: &Network) -> Vec<(usize, usize)> {
    let mut points = Vec::new();
    for (n, name) in NAMES.iter().enumerate() {
        for (p, port) in PORTS.iter().enumerate() {
            let is_reachable = match network {
                Network::None => false,
                Network::Any => true,
                Network::Hosts(hosts) => hosts.iter().any(|host| matches_endpoint(host, name, port)),
            };
            if is_reachable {
                points.push((n, p));
            }
        }
    }
    points
}

fn file_rank(files: Files) -> usize {
    [Files::None, Files::Read, Files::Write].iter().position(|rank| *rank == files).unwrap()
}

/// Returns the excess effects, as the first words of the lines that report them.
fn excess_effects(effects: &Effects, limits: &EffectLimits) -> Vec<&'static str> {
    let mut excess = Vec::new();
    if limits.read_only && !effects.read_only {
        excess.push("changes");
    }
    if limits.read_only && effects.destructive {
        excess.push("destruction");
    }
    let allowed = reachable(&limits.network);
    if reachable(&effects.network).iter().any(|point| !allowed.contains(point)) {
        excess.push("network");
    }
    if file_rank(effects.files) > file_rank(limits.files)
        || (limits.read_only && effects.files == Files::Write)
    {
        excess.push("files");
    }
    if effects.spawns && !limits.spawns {
        excess.push("programs");
    }
    excess
}

fn any_network() -> impl Strategy<Value = Network> {
    let hosts = proptest::collection::vec(proptest::sample::select(&PATTERNS[..]), 0..4);
    prop_oneof![Just(Network::None), Just(Network::Any), hosts.prop_map(|hosts| network(&hosts))]
}

fn any_files() -> impl Strategy<Value = Files> {
    proptest::sample::select(vec![Files::None, Files::Read, Files::Write])
}

prop_compose! {
    fn any_effects()(
        flags in any::<[bool; 5]>(),
        network in any_network(),
        files in any_files(),
    ) -> Effects {
        let [read_only, destructive, idempotent, open_world, spawns] = flags;
        Effects { read_only, destructive, idempotent, open_world, network, files, spawns }
    }
}

prop_compose! {
    fn any_limits()(
        read_only in any::<bool>(),
        network in any_network(),
        files in any_files(),
        spawns in any::<bool>(),
    ) -> EffectLimits {
        EffectLimits { read_only, destructive: true, network, files, spawns }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn limits_name_every_excess_effect(
        effects in any_effects(),
        limits in any_limits(),
    ) {
        let expected = excess_effects(&effects, &limits);
        let result = limits.check::<ToolError>(&named("t", effects.clone()));
        prop_assert_eq!(limits.allows(&effects), expected.is_empty());
        prop_assert_eq!(result.is_ok(), expected.is_empty());
        if let Err(error) = result {
            prop_assert_eq!(error.code(), "PERMISSION_DENIED");
            let text = error.to_string();
            let lines: Vec<&str> =
                text.lines().filter_map(|line| line.strip_prefix("- ")?.split(':').next()).collect();
            prop_assert_eq!(lines, expected, "{}", text);
        }
    }

    #[test]
    fn intersection_of_limits_allows_what_both_allow(
        effects in any_effects(),
        left in any_limits(),
        right in any_limits(),
    ) {
        let intersection = left.and(&right);
        prop_assert_eq!(intersection.allows(&effects), left.allows(&effects) && right.allows(&effects));
        let mut expected = reachable(&left.network);
        let right_points = reachable(&right.network);
        expected.retain(|point| right_points.contains(point));
        prop_assert_eq!(reachable(&intersection.network), expected);
    }

    #[test]
    fn confined_effects_exceed_only_unenforceable_limits(
        effects in any_effects(),
        limits in any_limits(),
    ) {
        let confined = limits.confine(&effects);
        let network_exceeds = limits.read_only && limits.network == Network::Any && effects.network != Network::None;
        let expected = [
            ("changes", network_exceeds && !effects.read_only),
            ("destruction", network_exceeds && effects.destructive),
            ("files", limits.files == Files::None && effects.files != Files::None),
            ("programs", effects.spawns && !limits.spawns),
        ];
        let expected: Vec<&str> = expected.iter().filter(|(_, is_excess)| *is_excess).map(|(name, _)| *name).collect();
        prop_assert_eq!(excess_effects(&confined, &limits), expected, "{:?}", confined);
        prop_assert_eq!(limits.confine(&confined), confined);
    }
}

// ---- messages, and cases with host names

#[test]
fn web_fetch_is_refused_without_network() {
    let fetch = Effects { network: Network::Any, open_world: true, ..Effects::NONE };
    let error = EffectLimits::PLANNING.check::<ToolError>(&named("web_fetch", fetch.clone())).unwrap_err();
    let expected = "Permission denied: tool 'web_fetch' may do more than this context allows:\n\
                    - network: it may reach any host (allowed: none)";
    assert_eq!((error.to_string().as_str(), error.code()), (expected, "PERMISSION_DENIED"));
    let coding = EffectLimits { network: Network::Any, ..EffectLimits::PLANNING };
    assert!(coding.check::<ToolError>(&named("web_fetch", fetch)).is_ok());
}

#[test]
fn undeclared_effects_are_treated_as_the_most_dangerous() {
    let error = EffectLimits::NONE.check::<ToolError>(&named("mystery", Effects::UNDECLARED)).unwrap_err();
    let expected = "\
Permission denied: tool 'mystery' may do more than this context allows:
- changes: it may change things (allowed: reading only)
- destruction: it may destroy things (allowed: reading only)
- network: it may reach any host (allowed: none)
- files: it may write files (allowed: none)
- programs: it may start programs (allowed: none)
Effects that a tool does not rule out are assumed, and this tool rules out none.";
    assert_eq!(error.to_string(), expected);
    assert!(EffectLimits::ANY.check::<ToolError>(&named("mystery", Effects::UNDECLARED)).is_ok());
}

#[test]
fn only_hosts_outside_the_grant_are_named() {
    let limits =
        EffectLimits { network: network(&["api.example.com", "*.internal:8443"]), ..EffectLimits::ANY };
    let tool_for = |hosts: &[&'static str]| named("t", Effects { network: network(hosts), ..Effects::NONE });
    for allowed in [
        &["API.Example.com"][..],
        &["api.example.com:444", "a.b.internal:8443"],
        &["api.example.com.", "*.x.internal:8443"],
        &[],
    ] {
        assert!(limits.check::<ToolError>(&tool_for(allowed)).is_ok(), "{allowed:?}");
    }
    for refused in ["internal:8443", "evilinternal:8443", "a.internal", "a.internal:443", "[::1]:8443", "*"] {
        let error =
            limits.check::<ToolError>(&tool_for(&["api.example.com", refused])).unwrap_err().to_string();
        let line = format!("- network: it may reach {refused} (allowed: api.example.com, *.internal:8443)");
        assert_eq!(error.lines().nth(1), Some(line.as_str()));
    }
}

#[test]
fn ipv6_addresses_keep_their_colons() {
    let limits = EffectLimits { network: network(&["[2001:db8::1]", "fe80::1"]), ..EffectLimits::ANY };
    let allowed = |host| limits.allows(&Effects { network: network(&[host]), ..Effects::NONE });
    assert!(allowed("[2001:DB8::1]:443") && allowed("[2001:db8::1]") && allowed("fe80::1"));
    assert!(!allowed("[2001:db8::2]:443") && !allowed("fe80:"));
}

// ---- rules

fn rules(include: Option<&[&'static str]>, exclude: &[&'static str]) -> PolicyRules {
    let mut builder = PolicyRules::builder().exclude(exclude.iter().copied());
    if let Some(include) = include {
        builder = builder.include(include.iter().copied());
    }
    builder.build().unwrap()
}

fn tools() -> Vec<ToolSpec> {
    let files = |name, effects| ToolSpec { category: "files".into(), ..named(name, effects) };
    vec![
        files("read_file", Effects { files: Files::Read, ..Effects::NONE }),
        files("write_file", Effects { read_only: false, files: Files::Write, ..Effects::NONE }),
        named("shell", Effects::UNDECLARED),
        named("web_fetch", Effects { network: Network::Any, ..Effects::NONE }),
    ]
}

#[test]
fn deny_takes_precedence_and_include_closes_the_set() {
    // Inclusions, exclusions, and the tools that remain.
    type Case<'a> = (Option<&'a [&'static str]>, &'a [&'static str], &'a [&'a str]);
    let cases: [Case<'_>; 12] = [
        (None, &[], &["read_file", "write_file", "shell", "web_fetch"]),
        (Some(&[]), &[], &[]),
        (Some(&["*_file"]), &[], &["read_file", "write_file"]),
        (Some(&["*"]), &["shell"], &["read_file", "write_file", "web_fetch"]),
        (Some(&["shell"]), &["sh?ll"], &[]),
        (Some(&["category:files"]), &["effect:files_write"], &["read_file"]),
        (Some(&["Shell", "READ*"]), &[], &[]),
        (None, &["effect:undeclared"], &["read_file", "write_file", "web_fetch"]),
        (None, &["effect:network", "effect:mutating"], &["read_file"]),
        (Some(&["effect:read_only"]), &["effect:open_world"], &["read_file", "web_fetch"]),
        (Some(&["category:files effect:read_only", "web_*"]), &[], &["read_file", "web_fetch"]),
        (None, &["category:gener?l effect:spawns"], &["read_file", "write_file", "web_fetch"]),
    ];
    for (include, exclude, expected) in cases {
        let policy = Policy::new(EffectLimits::ANY).with_rules(rules(include, exclude));
        let specs = tools();
        let allowed = specs.iter().filter(|spec| policy.check(spec).is_ok());
        let allowed: Vec<&str> = allowed.map(|spec| spec.name.as_str()).collect();
        assert_eq!(allowed, expected, "{include:?} {exclude:?}");
        assert_eq!(policy.refused(&specs).len(), specs.len() - expected.len());
    }
}

#[test]
fn explanation_names_the_deciding_rule() {
    let limits = EffectLimits { spawns: false, ..EffectLimits::ANY };
    let policy = Policy::new(limits)
        .with_rules(rules(Some(&["*_file", "read*", "shell"]), &["effect:files_write effect:mutating"]));
    let specs = tools();
    let messages: Vec<String> = specs.iter().map(|spec| policy.explain(spec).to_string()).collect();
    let excluded = "is excluded by the rule 'effect:files_write effect:mutating'";
    assert_eq!(messages[0], "tool 'read_file' is included by '*_file'");
    assert_eq!(messages[1], format!("Permission denied: tool 'write_file' {excluded}"));
    let also_limits =
        "and it may do more than this context allows:\n- programs: it may start programs (allowed: none)";
    let assumed = "Effects that a tool does not rule out are assumed, and this tool rules out none.";
    assert_eq!(messages[2], format!("Permission denied: tool 'shell' {excluded}, {also_limits}\n{assumed}"));
    let by_effect = Policy::new(EffectLimits::ANY).with_rules(rules(None, &["effect:destructive"]));
    let text = by_effect.explain(&specs[2]).to_string();
    assert_eq!(
        text,
        format!("Permission denied: tool 'shell' is excluded by the rule 'effect:destructive'\n{assumed}")
    );
    let by_name = Policy::new(EffectLimits::ANY).with_rules(rules(None, &["shell"]));
    assert!(!by_name.explain(&specs[2]).to_string().contains(assumed));
    assert_eq!(messages[3], "Permission denied: tool 'web_fetch' is not included by any rule");
    let refused: Vec<String> = policy.refused(&specs).iter().map(ToString::to_string).collect();
    assert_eq!(refused, messages[1..]);
    assert_eq!(Policy::default().explain(&specs[2]).to_string(), "tool 'shell' is allowed");
}

#[test]
fn invalid_rules_are_all_reported() {
    let error = PolicyRules::builder()
        .include(["ok_*", " ", "read.file", "scope:x"])
        .exclude(["effect:harmless", "category:", "effect:spawns"])
        .build()
        .unwrap_err();
    let expected = "\
rule ' ': it is empty
rule 'read.file': a tool name cannot contain '.'; `*` and `?` are wildcards
rule 'scope:x': unknown condition 'scope:'; use 'category:', 'effect:' or a name without a colon
rule 'effect:harmless': unknown effect 'harmless'; use one of read_only, mutating, destructive, idempotent, \
open_world, network, files_read, files_write, spawns, undeclared
rule 'category:': the category after 'category:' is missing";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.problems[3].problem, RuleProblem::Effect("harmless".into()));
}

struct SpecOnlyTool(ToolSpec);

impl AgentTool for SpecOnlyTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn execute<'a>(
        &'a self,
        _params: Value,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::empty()) })
    }
}

#[test]
fn unused_rules_are_reported() {
    let shared = |spec| Arc::new(SpecOnlyTool(spec)) as Arc<dyn AgentTool>;
    let registry = Registry::new(tools().into_iter().map(shared)).unwrap();
    let rules =
        rules(Some(&["read_file", "raed_*", "category:files"]), &["category:web", "effect:spawns", "x?"]);
    let unused = rules.unused(&registry);
    let unused: Vec<&str> = unused.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(unused, ["raed_*", "category:web", "x?"]);
}
