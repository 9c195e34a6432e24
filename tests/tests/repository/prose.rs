//! The prose of the repository is plain: it uses no phrase that has a plainer word.
//!
//! Prose is the comments and the longer string literals of Rust files, the names of tests, and the lines of Markdown
//! outside of code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use regex::{Regex, RegexBuilder};

use super::tidy::{files, is_test, relative};

/// A pattern, an exception to it, and what to write instead. A hit is an exception if the two overlap or touch. Matching
/// ignores case.
#[rustfmt::skip] // a row a line
const PHRASES: &[(&str, &str, &str)] = &[
    (r"\btold\b", r"\btold (apart|how|that|to|whether|which|not)\b", "reported, described, rendered, passed: say which"),
    (r"\b(can|could|cannot) be told\b|\bno telling\b", "", "can be determined; is unknown"),
    (r"\btells? .{0,30}\bapart\b|\btold apart\b", "", "distinguishes"),
    (r"\bof (its|their) own accord\b|\bunasked\b", "", "unsolicited; server-initiated"),
    (r"\b(is|are|was|were|been|be) said\b", "", "is stated, reported, documented"),
    (r"\bnot so that\b|\bbe so that\b", "", "name the condition"),
    (r"\b(is|are|was) not one\b", r"not one (of|that|which|tool|line)\b", "repeat the noun: “is not a URL”"),
    (r"\b(if|unless) (it|that|this) is one[.,;:)]", "", "repeat the noun"),
    (r"\b(that|which) (is|are|was) none[.,;:)]|\bjson that is none\b", "", "that is not a …; invalid JSON"),
    (r"\b(that|which|what) (is|are) no [a-z]+", r"\bno (longer|more|less|such|one|other|need|way|limit|reason)\b", "that is not a …"),
    (r"\bas far as\b", "", "if; where; to the extent that"),
    (r"\bin place of\b", "", "instead of; replacing"),
    (r"\bfor good\b", "", "permanently"),
    (r"\bat the same time\b", "", "concurrently; at once"),
    (r"\bthe most (bytes|calls|items|values|files|lines|tokens|pages|problems|tools|requests|sessions|names|characters|time|rows|places|documents|records|arguments|memory|connections)\b", "", "the maximum number of …; at most"),
    (r"^the (longest|deepest|fewest|shortest) [a-z]+ (that|a|of|after|in|is|are|which)\b", "", "the maximum length of …; the minimum number of …"),
    (r"\bhow often\b", "", "how many times; or: the interval"),
    (r"\bwhat becomes of\b|\bbecame of\b|\bcame of it\b", "", "what happens to; the outcome of"),
    (r"\bcomes? in pages\b", "", "is paginated"),
    (r"\blines? of shell\b", "", "shell command(s)"),
    (r"\b(the|one|each|no|that|this|another) text (is|has|in which)\b", "", "the string, message, description …"),
    (r"\btexts (that|of|are|in|which|whose|and)\b|\bof texts\b", "", "strings, messages, descriptions"),
    (r"\bfolders?\b", "", "directory, directories"),
    (r"\b(somebody|nobody)\b", "", "someone, no one; better, the role"),
    (r"\bgiv(e|es|en|ing) up\b|\bgave up\b", "", "cancel; abandon; time out"),
    (r"\b(goes|go|went|going) on\b", r"\bon (the|a|std|its)", "continue"),
    (r"\bhand(s|ed)? over\b", "", "pass; yield"),
    (r"\band the like\b", "", "and similar …"),
    (r"\banew\b", "", "again; from scratch"),
    (r"\b(by|under|to|of) which (a|the|it|its|they|no|each|only|some|models?|programs?|people|calls)\b", "", "split, or verb first: “that … uses to”"),
    (r"\bremed(y|ies)\b", "", "help (the word of the diagnostics)"),
    (r"\bvouch(es)?\b", "", "authenticates; certifies; guarantees"),
    (r"\btelling (name|names|word|words|first|of)\b|\bis telling\b", "", "informative; specific"),
    (r"\bstands? (next to|beside|in|twice|where|at|there)\b", "", "is; occurs; appears"),
    (r"\bmay not (be|hold|have|begin|start|contain|call|reach|set|use|exceed|run|go)\b", "", "must not; cannot; might not"),
    (r"\bbeside (it|the|a|them|another|other|others|that|each|this|which|its|an|rmcp)\b", "", "next to; in addition to"),
    (r"\bas (it|they) came\b", "", "verbatim; unchanged; raw"),
    (r"\bwhat (comes|came) back\b", "", "what is returned; the response"),
    (r"\bmistakes?\b", r"`mistakes`", "error(s), the word of the diagnostics"),
    (r"\bheld (to|against)\b|\bholds? (it|them|the model|a model|models|calls|programs) to\b", "", "checked against; limited to"),
    (r"\b(that|which|what|it|they|this) (is|are|was|were) to be [a-z]+(ed|t|n)\b", "", "must be …; will be …"),
    (r"\bup to (a|the) model\b", "", "chosen by the model"),
    (r"\bany more\b|\bnot [a-z]+ any longer\b", r"\bany more (than|of)\b", "no longer"),
    (r"\bput in words\b|\bin words for\b|\bhas words for\b|\b(in )?the words of\b", "", "described; the arguments of; the terms of"),
    (r"\bspel(t|led) out\b|\bspells? out\b", "", "expanded; in full"),
    (r"\bsigns? of life\b", "", "activity; progress"),
    (r"\bin an orderly way\b", "", "gracefully"),
    (r"\bleads? (nowhere|elsewhere|to where)\b", "", "does not resolve; is dangling"),
    (r"(?-i:\bWho (waits|has|reads|wants|sends|asks|gives|calls)\b)", "", "The caller (client, reader) that …"),
    (r"\b(a|each|every|any|no) further one\b", "", "another; additional calls"),
    (r"\bbelongs? into\b", "", "belongs in"),
    (r"\btakes? (it|them) for\b|\b(is|are|be) taken (for|as)\b", "", "is treated as"),
    (r"\b(hears?|heard)\b", "", "receives; is notified"),
    (r"\bis of the (range|kind|type|form|tool|server)\b", "", "is in the range; has the type"),
    (r"\bwhat there (is|was)\b|\bwhich tools there are\b", "", "what is available; which tools exist"),
    (r"\bgo(es)? by\b|\bwent by\b", "", "use(s); rely on"),
    (r"\bhow (it|they) (is|are) called\b|\bis called in\b", "", "its name"),
    (r"\bknows? no\b", "", "does not recognize; has no"),
    (r"\bmeans nothing\b", "", "has no effect; is ignored"),
    (r"\bin vain\b", "", "until the timeout; without a response"),
    (r"\bbreaks? off\b|\bbroken? off\b", "", "is interrupted; closes early"),
    (r"\bwrong usage\b|\bword is not understood\b|\bword that is not understood\b", "", "usage error; unrecognized argument"),
];

/// Files whose words are data: synonyms that models search with, and the list above.
const EXEMPT: [&str; 2] = ["runtime/core/src/spec/search/synonyms.rs", "tests/tests/repository/prose.rs"];

/// A pattern of [`PHRASES`], compiled.
struct Phrase {
    pattern: Regex,
    exception: Option<Regex>,
    instead: &'static str,
}

impl Phrase {
    fn all() -> Vec<Phrase> {
        let compile = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(true).build().unwrap();
        let phrase = |(pattern, exception, instead): &(&str, &str, &'static str)| Phrase {
            pattern: compile(pattern),
            exception: (!exception.is_empty()).then(|| compile(exception)),
            instead,
        };
        PHRASES.iter().map(phrase).collect()
    }

    fn is_in(&self, line: &str) -> bool {
        let excused = |hit: &regex::Match<'_>| {
            let exceptions = self.exception.iter().flat_map(|exception| exception.find_iter(line));
            exceptions.into_iter().any(|it| it.start() <= hit.end() && hit.start() <= it.end())
        };
        self.pattern.find_iter(line).any(|hit| !excused(&hit))
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

/// Fails with all lines that have a phrase. A line is its place and its text.
fn assert_plain(lines: &[(String, String)]) {
    let mut wrong = Vec::new();
    for phrase in Phrase::all() {
        let hits = lines.iter().filter(|(_, line)| phrase.is_in(line));
        let hits: Vec<_> = hits.map(|(place, line)| format!("  {place}: {line}")).collect();
        if !hits.is_empty() {
            wrong.push(format!("`{}`: write {}\n{}", phrase.pattern, phrase.instead, hits.join("\n")));
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
    assert_plain(&lines);
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
    assert_plain(&names);
}
