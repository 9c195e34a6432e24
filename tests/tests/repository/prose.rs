//! The prose of the repository is plain: phrases that have a plainer word are counted, and their number only falls.
//!
//! Prose is the comments and the longer string literals of Rust files, the names of tests, and the lines of Markdown
//! outside of code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use regex::{Regex, RegexBuilder};

use super::tidy::{files, is_test, relative};

/// A pattern, an exception to it, what to write instead, and how many hits are left. A hit is an exception if the two
/// overlap or touch. Matching ignores case.
#[rustfmt::skip] // a row a line
const PHRASES: &[(&str, &str, &str, usize)] = &[
    (r"\btold\b", r"\btold (apart|how|that|to|whether|which|not)\b", "reported, described, rendered, passed: say which", 0),
    (r"\b(can|could|cannot) be told\b|\bno telling\b", "", "can be determined; is unknown", 0),
    (r"\btells? .{0,30}\bapart\b|\btold apart\b", "", "distinguishes", 0),
    (r"\bof (its|their) own accord\b|\bunasked\b", "", "unsolicited; server-initiated", 0),
    (r"\b(is|are|was|were|been|be) said\b", "", "is stated, reported, documented", 0),
    (r"\bnot so that\b|\bbe so that\b", "", "name the condition", 0),
    (r"\b(is|are|was) not one\b", r"not one (of|that|which|tool|line)\b", "repeat the noun: “is not a URL”", 0),
    (r"\b(if|unless) (it|that|this) is one[.,;:)]", "", "repeat the noun", 0),
    (r"\b(that|which) (is|are|was) none[.,;:)]|\bjson that is none\b", "", "that is not a …; invalid JSON", 0),
    (r"\b(that|which|what) (is|are) no [a-z]+", r"\bno (longer|more|less|such|one|other|need|way|limit|reason)\b", "that is not a …", 0),
    (r"\bas far as\b", "", "if; where; to the extent that", 0),
    (r"\bin place of\b", "", "instead of; replacing", 0),
    (r"\bfor good\b", "", "permanently", 0),
    (r"\bat the same time\b", "", "concurrently; at once", 0),
    (r"\bthe most (bytes|calls|items|values|files|lines|tokens|pages|problems|tools|requests|sessions|names|characters|time|rows|places|documents|records|arguments|memory|connections)\b", "", "the maximum number of …; at most", 0),
    (r"^the (longest|deepest|fewest|shortest) [a-z]+ (that|a|of|after|in|is|are|which)\b", "", "the maximum length of …; the minimum number of …", 0),
    (r"\bhow often\b", "", "how many times; or: the interval", 0),
    (r"\bwhat becomes of\b|\bbecame of\b|\bcame of it\b", "", "what happens to; the outcome of", 0),
    (r"\bcomes? in pages\b", "", "is paginated", 0),
    (r"\blines? of shell\b", "", "shell command(s)", 0),
    (r"\b(the|one|each|no|that|this|another) text (is|has|in which)\b", "", "the string, message, description …", 0),
    (r"\btexts (that|of|are|in|which|whose|and)\b|\bof texts\b", "", "strings, messages, descriptions", 0),
    (r"\bfolders?\b", "", "directory, directories", 0),
    (r"\b(somebody|nobody)\b", "", "someone, no one; better, the role", 0),
    (r"\bgiv(e|es|en|ing) up\b|\bgave up\b", "", "cancel; abandon; time out", 0),
    (r"\b(goes|go|went|going) on\b", r"\bon (the|a|std|its)", "continue", 0),
    (r"\bhand(s|ed)? over\b", "", "pass; yield", 0),
    (r"\band the like\b", "", "and similar …", 0),
    (r"\banew\b", "", "again; from scratch", 0),
    (r"\b(by|under|to|of) which (a|the|it|its|they|no|each|only|some|models?|programs?|people|calls)\b", "", "split, or verb first: “that … uses to”", 0),
    (r"\bremed(y|ies)\b", "", "help (the word of the diagnostics)", 0),
    (r"\bvouch(es)?\b", "", "authenticates; certifies; guarantees", 0),
    (r"\btelling (name|names|word|words|first|of)\b|\bis telling\b", "", "informative; specific", 0),
    (r"\bstands? (next to|beside|in|twice|where|at|there)\b", "", "is; occurs; appears", 0),
    (r"\bmay not (be|hold|have|begin|start|contain|call|reach|set|use|exceed|run|go)\b", "", "must not; cannot; might not", 0),
    (r"\bbeside (it|the|a|them|another|other|others|that|each|this|which|its|an|rmcp)\b", "", "next to; in addition to", 0),
    (r"\bas (it|they) came\b", "", "verbatim; unchanged; raw", 0),
    (r"\bwhat (comes|came) back\b", "", "what is returned; the response", 0),
    (r"\bmistakes?\b", r"`mistakes`", "error(s), the word of the diagnostics", 0),
    (r"\bheld (to|against)\b|\bholds? (it|them|the model|a model|models|calls|programs) to\b", "", "checked against; limited to", 0),
    (r"\b(that|which|what|it|they|this) (is|are|was|were) to be [a-z]+(ed|t|n)\b", "", "must be …; will be …", 0),
    (r"\bup to (a|the) model\b", "", "chosen by the model", 0),
    (r"\bany more\b|\bnot [a-z]+ any longer\b", r"\bany more (than|of)\b", "no longer", 0),
    (r"\bput in words\b|\bin words for\b|\bhas words for\b|\b(in )?the words of\b", "", "described; the arguments of; the terms of", 0),
    (r"\bspel(t|led) out\b|\bspells? out\b", "", "expanded; in full", 0),
    (r"\bsigns? of life\b", "", "activity; progress", 0),
    (r"\bin an orderly way\b", "", "gracefully", 0),
    (r"\bleads? (nowhere|elsewhere|to where)\b", "", "does not resolve; is dangling", 0),
    (r"(?-i:\bWho (waits|has|reads|wants|sends|asks|gives|calls)\b)", "", "The caller (client, reader) that …", 0),
    (r"\b(a|each|every|any|no) further one\b", "", "another; additional calls", 0),
    (r"\bbelongs? into\b", "", "belongs in", 0),
    (r"\btakes? (it|them) for\b|\b(is|are|be) taken (for|as)\b", "", "is treated as", 0),
    (r"\b(hears?|heard)\b", "", "receives; is notified", 0),
    (r"\bis of the (range|kind|type|form|tool|server)\b", "", "is in the range; has the type", 0),
    (r"\bwhat there (is|was)\b|\bwhich tools there are\b", "", "what is available; which tools exist", 0),
    (r"\bgo(es)? by\b|\bwent by\b", "", "use(s); rely on", 0),
    (r"\bhow (it|they) (is|are) called\b|\bis called in\b", "", "its name", 0),
    (r"\bknows? no\b", "", "does not recognize; has no", 0),
    (r"\bmeans nothing\b", "", "has no effect; is ignored", 0),
    (r"\bin vain\b", "", "until the timeout; without a response", 0),
    (r"\bbreaks? off\b|\bbroken? off\b", "", "is interrupted; closes early", 0),
    (r"\bwrong usage\b|\bword is not understood\b|\bword that is not understood\b", "", "usage error; unrecognized argument", 0),
];

/// Files whose words are data: synonyms that models search with, and the list above.
const EXEMPT: [&str; 2] = ["runtime/core/src/spec/search/synonyms.rs", "tests/tests/repository/prose.rs"];

/// A pattern of [`PHRASES`], compiled.
struct Phrase {
    pattern: Regex,
    exception: Option<Regex>,
    instead: &'static str,
    left: usize,
}

impl Phrase {
    fn all() -> Vec<Phrase> {
        let compile = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(true).build().unwrap();
        let phrase = |(pattern, exception, instead, left): &(&str, &str, &'static str, usize)| Phrase {
            pattern: compile(pattern),
            exception: (!exception.is_empty()).then(|| compile(exception)),
            instead,
            left: *left,
        };
        PHRASES.iter().map(phrase).collect()
    }

    fn hits(&self, line: &str) -> usize {
        let hits = self.pattern.find_iter(line);
        let Some(exception) = &self.exception else { return hits.count() };
        let excused = |hit: &regex::Match<'_>| {
            exception.find_iter(line).any(|it| it.start() <= hit.end() && hit.start() <= it.end())
        };
        hits.filter(|hit| !excused(hit)).count()
    }
}

/// Comments and string literals of at least three words of a Rust file, or the lines of a page outside of code, each
/// with its line number.
fn prose(path: &Path) -> BTreeSet<(usize, String)> {
    let text = fs::read_to_string(path).unwrap();
    let mut found = BTreeSet::new();
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    if path.extension().is_some_and(|extension| extension == "md") {
        let mut code = false;
        for (number, line) in lines {
            code ^= line.trim_start().starts_with("```");
            if !code {
                found.insert((number, line.to_owned()));
            }
        }
        return found;
    }
    let (mut code, mut comments) = (false, BTreeSet::new());
    for (number, line) in lines {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        comments.insert(number);
        let comment = comment.trim_start_matches([' ', '/', '!']).trim_end();
        code ^= comment.starts_with("```");
        if !code {
            found.insert((number, comment.to_owned()));
        }
    }
    // Doc comments are literals of `#[doc]` here; their lines were read above.
    let mut quoted = BTreeSet::new();
    literals(text.parse().unwrap(), &mut quoted);
    found.extend(quoted.into_iter().filter(|(number, _)| !comments.contains(number)));
    found
}

fn literals(stream: TokenStream, found: &mut BTreeSet<(usize, String)>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) else { continue };
                let text = text.value().trim().to_owned();
                if text.matches(' ').count() > 1 {
                    found.insert((literal.span().start().line, text));
                }
            }
            _ => {}
        }
    }
}

/// Compares the hits of each phrase with the number that is left of it.
fn assert_plain(lines: &[(String, String)], left: impl Fn(&Phrase) -> usize) {
    let mut wrong = Vec::new();
    for phrase in Phrase::all() {
        let hits: Vec<_> = lines.iter().filter(|(_, line)| phrase.hits(line) > 0).collect();
        let count: usize = hits.iter().map(|(_, line)| phrase.hits(line)).sum();
        if count > left(&phrase) {
            let places: Vec<_> = hits.iter().map(|(place, line)| format!("  {place}: {line}")).collect();
            wrong.push(format!("`{}`: write {}\n{}", phrase.pattern, phrase.instead, places.join("\n")));
        } else if count < left(&phrase) {
            wrong.push(format!("`{}`: only {count} left; lower the number", phrase.pattern));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn prose_uses_plain_words() {
    let page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let lines: Vec<(String, String)> = files(&[".rs", ".md"])
        .iter()
        .filter(|path| !EXEMPT.contains(&relative(path).as_str()))
        .filter(|path| !is_test(path) || (page(path) && !relative(path).starts_with("toolgen/")))
        .flat_map(|path| {
            let name = relative(path);
            prose(path).into_iter().map(move |(line, text)| (format!("{name}:{line}"), text))
        })
        .collect();
    assert!(lines.len() > 10_000, "{} lines of prose", lines.len());
    assert_plain(&lines, |phrase| phrase.left);
}

#[test]
fn test_names_use_plain_words() {
    let mut names = Vec::new();
    for path in files(&[".rs"]) {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_test = false;
        for line in text.lines().map(str::trim_start) {
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            let function = line.trim_start_matches("async ").strip_prefix("fn ");
            if let (true, Some(rest)) = (is_test, function) {
                let name = rest.split('(').next().unwrap_or_default();
                names.push((format!("{}: {name}", relative(&path)), name.replace('_', " ")));
                is_test = false;
            }
        }
    }
    assert!(names.len() > 2_000, "{} tests", names.len());
    assert_plain(&names, |_| 0);
}
