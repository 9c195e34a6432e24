//! The search for tools by words.
//!
//! A [`SearchIndex`] ranks tools by [BM25F](https://en.wikipedia.org/wiki/Okapi_BM25): words of the name, the title and the
//! first sentence count more than those of the rest of the description, the arguments and their values; rare words more
//! than common ones. Endings of English words are cut, and words that mean the same in interfaces (`delete` and `remove`)
//! find each other. Nothing is random: the same tools and the same question give the same order.
//!
//! ```
//! use toolgen_runtime::spec::search::SearchIndex;
//! use toolgen_runtime::{ToolName, ToolSpec};
//!
//! let tool = |name, text: &'static str| ToolSpec {
//!     name: ToolName::new(name),
//!     description: text.into(),
//!     ..ToolSpec::EMPTY
//! };
//! let tools = [tool("deletePet", "Removes a pet."), tool("listOrders", "Orders of a store, newest first.")];
//! let index = SearchIndex::new(tools.iter().map(|spec| (spec, "")));
//! assert_eq!(index.search("which orders are there?", 5, |_| true), [1]);
//! assert_eq!(index.search("get rid of an animal", 5, |_| true), [0]);
//! ```

mod action;
mod synonyms;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::base::truncate::floor;
use crate::schema::shape::{Kind, Literal, ObjectRules, Shape, resolved};
use crate::spec::ToolSpec;
use action::Action;
use words::{is_filler, stem, words};

/// How many bytes of a question are read.
const QUESTION: usize = 2_000;

/// How many different words of a question are looked for.
const WORDS: usize = 64;

/// How quickly further occurrences of a word in a tool stop to count.
const SATURATION: f32 = 1.4;

/// How much a word counts that only begins the same.
const BEGINNING: f32 = 0.4;

/// How much more a tool counts that does what is asked for.
const AGREES: f32 = 1.4;

/// How much more a tool counts that only looks, if a question has no verb.
const READS: f32 = 1.15;

/// A part of what is known about a tool.
#[derive(Clone, Copy)]
enum Field {
    Name,
    Summary,
    Path,
    Text,
    Arguments,
    Values,
}

/// How much each field counts, and how much its length matters.
const FIELDS: [(f32, f32); 6] = [(3.0, 0.8), (2.0, 0.8), (1.0, 0.8), (0.6, 0.7), (0.4, 0.6), (0.2, 0.6)];

/// An index of tools, to search them by words; see the [module](self).
#[derive(Clone, Debug)]
pub struct SearchIndex {
    /// How many tools there are.
    count: usize,
    /// Where the stem of a word occurs: the tool, and how much it counts there.
    places: BTreeMap<String, Vec<(u32, f32)>>,
    /// What each tool does.
    actions: Vec<Vec<Action>>,
}

/// The words of one tool, and how often each occurs in each field.
#[derive(Default)]
struct Words {
    counts: HashMap<String, [f32; FIELDS.len()]>,
    lengths: [f32; FIELDS.len()],
}

impl Words {
    fn add(&mut self, field: Field, text: &str, stems: &mut HashMap<String, String>) {
        let field = field as usize;
        words(text, |word| {
            if is_filler(word) {
                return;
            }
            let stem = match stems.get(word) {
                Some(stem) => stem.as_str(),
                None => stems.entry(word.to_owned()).or_insert_with(|| stem(word)).as_str(),
            };
            match self.counts.get_mut(stem) {
                Some(counts) => counts[field] += 1.0,
                None => self.counts.entry(stem.to_owned()).or_default()[field] += 1.0,
            }
            self.lengths[field] += 1.0;
        });
    }

    fn of(spec: &ToolSpec, more: &str, stems: &mut HashMap<String, String>) -> Words {
        let mut words = Words::default();
        words.add(Field::Name, spec.name.as_str(), stems);
        words.add(Field::Name, &spec.label, stems);
        let (first, rest) = opening(&spec.description);
        words.add(Field::Summary, first, stems);
        words.add(Field::Text, rest, stems);
        words.add(Field::Text, &spec.use_for, stems);
        words.add(Field::Text, &spec.returns, stems);
        words.add(Field::Path, more, stems);
        if &*spec.category != "general" {
            words.add(Field::Path, &spec.category, stems);
        }
        if let Some(Kind::Object(rules)) = resolved(&spec.input, &spec.defs).map(|shape| &shape.kind) {
            words.arguments(rules, spec, stems);
        }
        words
    }

    fn arguments(&mut self, rules: &ObjectRules, spec: &ToolSpec, stems: &mut HashMap<String, String>) {
        for field in &rules.fields {
            self.add(Field::Arguments, &field.name, stems);
            let shape = resolved(&field.shape, &spec.defs).unwrap_or(&field.shape);
            let values = match &shape.kind {
                Kind::Array(list) => resolved(&list.items, &spec.defs).unwrap_or(&list.items),
                _ => shape,
            };
            self.values(values, stems);
            // The fields of a body that is an argument of its own name what the call is about, too.
            if let Kind::Object(inner) = &shape.kind {
                inner.fields.iter().for_each(|field| self.add(Field::Values, &field.name, stems));
            }
        }
    }

    fn values(&mut self, shape: &Shape, stems: &mut HashMap<String, String>) {
        if let Kind::Enum(values) = &shape.kind {
            let texts = values.iter().filter_map(|value| match value {
                Literal::String(text) => Some(text),
                _ => None,
            });
            texts.for_each(|text| self.add(Field::Values, text, stems));
        }
    }
}

/// Splits a description after its first paragraph, or its first sentence if that ends earlier.
fn opening(text: &str) -> (&str, &str) {
    let paragraph = text.find("\n\n").unwrap_or(text.len());
    let sentence = text.find(". ").map_or(text.len(), |at| at + 1);
    text.split_at(paragraph.min(sentence))
}

impl SearchIndex {
    /// Indexes tools, each with further words by which it is found, such as the path of its request. The order of the
    /// tools decides between equally good ones.
    pub fn new<'a>(tools: impl IntoIterator<Item = (&'a ToolSpec, &'a str)>) -> SearchIndex {
        let (mut stems, mut actions) = (HashMap::new(), Vec::new());
        let mut all = Vec::new();
        for (spec, more) in tools {
            actions.push(action::done(spec, opening(&spec.description).0));
            all.push(Words::of(spec, more, &mut stems));
        }
        let count = all.len();
        let mut average = [0.0_f32; FIELDS.len()];
        for words in &all {
            average.iter_mut().zip(words.lengths).for_each(|(sum, length)| *sum += length);
        }
        average.iter_mut().for_each(|sum| *sum = (*sum / real(count)).max(1.0));
        let mut places: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
        for (tool, words) in (0_u32..).zip(all) {
            let mut weights = [0.0; FIELDS.len()];
            for (at, (weight, length)) in FIELDS.into_iter().enumerate() {
                weights[at] = weight / (1.0 - length + length * words.lengths[at] / average[at]);
            }
            for (word, counts) in words.counts {
                let counts = counts.iter().zip(weights).map(|(count, weight)| count * weight).sum();
                places.entry(word).or_default().push((tool, counts));
            }
        }
        SearchIndex { count, places: places.into_iter().collect(), actions }
    }

    /// Returns the positions of the tools that fit a question best, the best first: at most `limit`, and only those that
    /// `keep` admits. Only the first 2,000 bytes of a question are read.
    #[must_use]
    pub fn search(&self, question: &str, limit: usize, keep: impl Fn(usize) -> bool) -> Vec<usize> {
        let question = synonyms::plain(&question[..floor(question, QUESTION)]);
        let wanted = wanted(&question);
        let mut scores = vec![0.0_f32; self.count];
        let mut best = vec![0.0_f32; self.count];
        for word in &wanted {
            best.fill(0.0);
            let mut note = |stem: &str, factor: f32| {
                let Some(places) = self.places.get(stem) else { return false };
                let rarity = self.rarity(places.len());
                for (tool, count) in places {
                    if let Some(best) = usize::try_from(*tool).ok().and_then(|tool| best.get_mut(tool)) {
                        *best = best.max(factor * rarity * count / (count + SATURATION));
                    }
                }
                true
            };
            let mut found = note(word, 1.0);
            for (synonym, weight) in synonyms::of(word) {
                found |= note(synonym, *weight);
            }
            if !found {
                self.beginning_like(word).into_iter().for_each(|other| {
                    note(other, BEGINNING);
                });
            }
            scores.iter_mut().zip(&best).for_each(|(score, best)| *score += best);
        }
        let asked = action::asked(&question);
        let (asked, factor) = if asked.is_empty() { (vec![Action::Read], READS) } else { (asked, AGREES) };
        for (score, done) in scores.iter_mut().zip(&self.actions) {
            if done.iter().any(|done| asked.contains(done)) {
                *score *= factor;
            }
        }
        let mut found: Vec<(usize, f32)> =
            scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        found.into_iter().map(|(tool, _)| tool).filter(|tool| keep(*tool)).take(limit).collect()
    }

    fn rarity(&self, tools: usize) -> f32 {
        let (all, tools) = (real(self.count), real(tools));
        (1.0 + (all - tools + 0.5) / (tools + 0.5)).ln()
    }

    /// Returns known words that begin as an unknown one does, for languages whose endings are not cut.
    fn beginning_like(&self, word: &str) -> Vec<&str> {
        let letters = word.chars().count();
        let same = (letters * 3).div_ceil(4).max(4);
        let Some((end, _)) =
            word.char_indices().nth(same.min(letters)).or((letters >= same).then_some((word.len(), ' ')))
        else {
            return Vec::new();
        };
        let beginning = &word[..end];
        let known = self.places.range(beginning.to_owned()..).map(|(known, _)| known.as_str());
        known.take_while(|known| known.starts_with(beginning)).take(16).collect()
    }
}

/// Returns the stems of the words of a question, in order, without those that say nothing if there are others.
fn wanted(question: &str) -> Vec<String> {
    let (mut all, mut telling) = (BTreeSet::new(), BTreeSet::new());
    words(question, |word| {
        if all.len() < WORDS {
            all.insert(stem(word));
            if !is_filler(word) {
                telling.insert(stem(word));
            }
        }
    });
    (if telling.is_empty() { all } else { telling }).into_iter().collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
fn real(count: usize) -> f32 {
    count as f32
}
