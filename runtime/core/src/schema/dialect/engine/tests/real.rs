//! Compiles the translated patterns with the real engines.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};

use toolgen_test_support::needs::{Need, skip};

use super::{CASES, Dialect, Engine};
use crate::schema::shape::corpus;

/// Programs that read patterns and print each one that they reject.
const PYTHON: &str = "
import json, re, sys
for pattern in json.load(sys.stdin):
    try: re.compile(pattern)
    except (re.error, OverflowError) as why: print(pattern, why)";
const RE2: &str = "
import json, re2, sys
quiet = re2.Options()
quiet.log_errors = False
for pattern in json.load(sys.stdin):
    try: re2.compile(pattern, options=quiet)
    except re2.error as why: print(pattern, why)";
const NODE: &str = "
const is = (pattern, flags) => { try { new RegExp(pattern, flags); return true } catch { return false } };
JSON.parse(require('fs').readFileSync(0, 'utf8')).filter(one => !is(one, 'u') && !is(one, '')).forEach(one => console.log(one))";

/// Compiles the patterns of the dialects with the engines. Returns how many patterns each engine received.
fn compile_with_engines<'p>(
    patterns: &(impl Iterator<Item = &'p str> + Clone),
    engines: &[Engine],
) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for engine in engines {
        let dialects = Dialect::ALL.iter().filter(|dialect| dialect.engine == *engine);
        let mut translated: Vec<_> = dialects
            .flat_map(|dialect| patterns.clone().filter_map(|pattern| dialect.pattern(pattern)))
            .collect();
        translated.sort_unstable();
        translated.dedup();
        let (need, program, arguments) = match engine {
            Engine::Python => (Need::Python, Some(OsString::from("python3")), ["-c", PYTHON]),
            Engine::Re2 => (Need::Re2, std::env::var_os("TOOLGEN_RE2"), ["-c", RE2]),
            Engine::EcmaScript => (Need::Node, Some(OsString::from("node")), ["-e", NODE]),
        };
        let child = program.and_then(|program| {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()
        });
        let Some(mut child) = child else {
            skip(need, "its engine cannot be asked");
            continue;
        };
        child
            .stdin
            .take()
            .unwrap()
            .write_all(serde_json::to_string(&translated).unwrap().as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", output.status);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{engine:?}");
        counts.insert(need.name(), translated.len());
    }
    counts
}

#[test]
fn real_engines_compile_the_converted_patterns() {
    let reported = compile_with_engines(
        &CASES.iter().map(|(pattern, ..)| *pattern),
        &[Engine::Python, Engine::EcmaScript],
    );
    assert!(reported.values().all(|count| *count > 15), "{reported:?}");
}

#[test]
#[ignore = "heavy: corpus"]
fn patterns_of_the_corpus_compile_in_real_engines() {
    let patterns = corpus::patterns();
    let patterns = patterns.iter().map(String::as_str).chain(CASES.iter().map(|(pattern, ..)| *pattern));
    let reported = compile_with_engines(&patterns, &[Engine::Python, Engine::EcmaScript, Engine::Re2]);
    println!("{reported:?}");
}
