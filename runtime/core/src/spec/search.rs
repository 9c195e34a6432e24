//! Keyword search for tools.
//!
//! A [`SearchIndex`] ranks tools by [BM25F](https://en.wikipedia.org/wiki/Okapi_BM25). Words of the name, the title
//! and the first sentence count more than words of the rest of the description, the arguments and their values. Rare
//! words count more than common ones. A tool that matches most words of a query ranks higher than a tool that contains
//! some of them many times. English words are stemmed, and synonyms in APIs (`delete` and `remove`) match each other.
//! The ranking is deterministic: the same tools and the same query give the same order.
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

mod indexed_schema;
mod synonyms;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

use self::indexed_schema::IndexedSchema;
use self::words::{is_filler, stem, words};
use super::ToolSpec;
use crate::base::truncate::{first_sentence, floor};

/// Maximum length of a query that is read, in bytes.
const MAX_QUERY_BYTES: usize = 2_000;

/// Maximum number of different words of a query that are looked up.
const MAX_QUERY_WORDS: usize = 64;

/// Maximum length of a description after its first sentence that is indexed, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 600;

/// Maximum length of an argument's description that is indexed, in bytes.
const MAX_ARGUMENT_TEXT_BYTES: usize = 120;

/// Maximum number of values of an argument that are indexed.
const MAX_VALUES_INDEXED: usize = 50;

/// How fast repeated occurrences of a word in a tool stop counting.
const SATURATION: f32 = 6.0;

/// How much more a rare word counts than a common one: 1 as in BM25, 0 for equal weights.
const RARITY: f32 = 0.4;

/// How much of the score depends on the share of the query's words that a tool contains.
const COVERAGE_WEIGHT: f32 = 0.45;

/// The weight of a word that only has the same prefix.
const PREFIX_WEIGHT: f32 = 0.4;

/// The boost of a tool that performs the requested action.
const ACTION_BOOST: f32 = 1.3;

/// The boost of a read-only tool, if a query has no verb.
const READ_ONLY_BOOST: f32 = 1.15;

/// A part of a tool's description.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Name,
    Summary,
    Path,
    Text,
    Arguments,
    Values,
    Notes,
}

/// The weight of each field, and how much its length matters.
const FIELDS: [(f32, f32); 7] =
    [(2.0, 0.65), (2.0, 0.8), (1.0, 0.8), (0.8, 0.9), (0.4, 0.6), (0.1, 0.6), (0.1, 0.6)];

/// An index of tools for keyword search; see the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct SearchIndex {
    /// Number of tools.
    count: usize,
    /// The occurrences of each word stem: the tool, and the weight of the word in it.
    postings: BTreeMap<String, Vec<(u32, f32)>>,
    /// The actions of each tool.
    actions: Vec<&'static [Action]>,
}

/// The indexed words in one tool.
#[derive(Default)]
struct Words {
    /// The numbers of the stems of the words, each with its field.
    stems: Vec<(u32, Field)>,
    lengths: [f32; FIELDS.len()],
}

/// Assigns a number to each stem.
#[derive(Default)]
struct Stems {
    /// The number of the stem of a word; `None` for a filler word.
    words: HashMap<String, Option<u32>>,
    stems: HashMap<String, u32>,
    /// The ranges of `numbers` for strings that many tools share.
    texts: HashMap<String, Range<usize>>,
    numbers: Vec<u32>,
}

impl Stems {
    fn number(&mut self, word: &str) -> Option<u32> {
        if let Some(number) = self.words.get(word) {
            return *number;
        }
        let number = (!is_filler(word)).then(|| {
            let next = u32::try_from(self.stems.len()).unwrap_or(u32::MAX);
            *self.stems.entry(stem(word)).or_insert(next)
        });
        self.words.insert(word.to_owned(), number);
        number
    }

    /// Returns the numbers of the words in a string that other tools may share.
    fn shared_numbers(&mut self, text: &str) -> &[u32] {
        let cached = self.texts.get(text).cloned();
        let range = cached.unwrap_or_else(|| {
            let start = self.numbers.len();
            words(text, |word| {
                let number = self.number(word);
                self.numbers.extend(number);
            });
            let range = start..self.numbers.len();
            self.texts.insert(text.to_owned(), range.clone());
            range
        });
        self.numbers.get(range).unwrap_or_default()
    }
}

impl Words {
    fn add(&mut self, field: Field, text: &str, stems: &mut Stems) {
        words(text, |word| {
            if let Some(number) = stems.number(word) {
                self.stems.push((number, field));
                self.lengths[field as usize] += 1.0;
            }
        });
    }

    /// Like [`add`](Self::add), for a string that other tools may share.
    fn add_shared(&mut self, field: Field, text: &str, stems: &mut Stems) {
        let numbers = stems.shared_numbers(text);
        self.lengths[field as usize] += to_f32(numbers.len());
        self.stems.extend(numbers.iter().map(|number| (*number, field)));
    }

    fn of(spec: &ToolSpec, extra_text: &str, stems: &mut Stems) -> Words {
        let mut words = Words::default();
        words.add(Field::Name, spec.name.as_str(), stems);
        words.add(Field::Name, &spec.label, stems);
        let (summary, remainder) = split_summary(&spec.description);
        words.add(Field::Summary, summary, stems);
        words.add(Field::Text, &remainder[..floor(remainder, MAX_DESCRIPTION_BYTES)], stems);
        words.add(Field::Text, &spec.use_for, stems);
        words.add_shared(Field::Text, &spec.returns, stems);
        words.add(Field::Path, extra_text, stems);
        if &*spec.category != "general" {
            words.add_shared(Field::Path, &spec.category, stems);
        }
        words.add_arguments(spec, stems);
        words
    }

    fn add_arguments(&mut self, spec: &ToolSpec, stems: &mut Stems) {
        let input = IndexedSchema::from_schema(&spec.input);
        let input = input.resolved(&spec.defs).unwrap_or(input);
        for (name, field) in &input.fields {
            self.add_shared(Field::Arguments, name, stems);
            let target = field.resolved(&spec.defs);
            let value = target.as_ref().unwrap_or(field);
            let note = if field.description.is_empty() { &value.description } else { &field.description };
            self.add_shared(Field::Notes, &note[..floor(note, MAX_ARGUMENT_TEXT_BYTES)], stems);
            match &value.items {
                Some(items) => self.add_values(items.resolved(&spec.defs).as_ref().unwrap_or(items), stems),
                None => self.add_values(value, stems),
            }
            // The fields of a body that is a single argument also describe the call.
            value.fields.iter().for_each(|(name, _)| self.add_shared(Field::Values, name, stems));
        }
    }

    fn add_values(&mut self, schema: &IndexedSchema<'_>, stems: &mut Stems) {
        schema
            .values
            .iter()
            .take(MAX_VALUES_INDEXED)
            .for_each(|text| self.add_shared(Field::Values, text, stems));
    }
}

/// Splits a description after its first paragraph, or after its first sentence if that ends earlier.
fn split_summary(text: &str) -> (&str, &str) {
    let paragraph = text.find("\n\n").unwrap_or(text.len());
    text.split_at(first_sentence(&text[..paragraph]).len())
}

impl SearchIndex {
    /// Indexes tools. Each has additional search text, such as the path of its request. The order of the tools decides
    /// between equal scores.
    pub fn new<'a>(tools: impl IntoIterator<Item = (&'a ToolSpec, &'a str)>) -> SearchIndex {
        let (mut stems, mut actions, mut words_by_tool) = (Stems::default(), Vec::new(), Vec::new());
        for (spec, extra_text) in tools {
            actions.push(actions_of_tool(spec, split_summary(&spec.description).0));
            words_by_tool.push(Words::of(spec, extra_text, &mut stems));
        }
        let count = words_by_tool.len();
        let mut average = [0.0_f32; FIELDS.len()];
        for words in &words_by_tool {
            average.iter_mut().zip(words.lengths).for_each(|(sum, length)| *sum += length);
        }
        average.iter_mut().for_each(|sum| *sum = (*sum / to_f32(count)).max(1.0));
        let mut postings: Vec<Vec<(u32, f32)>> = vec![Vec::new(); stems.stems.len()];
        // The weight of each stem in a tool, and the stems that the tool has.
        let (mut sums, mut touched) = (vec![0.0_f32; postings.len()], Vec::new());
        for (tool, words) in (0_u32..).zip(words_by_tool) {
            let mut weights = [0.0; FIELDS.len()];
            for (index, (weight, length)) in FIELDS.into_iter().enumerate() {
                weights[index] = weight / (1.0 - length + length * words.lengths[index] / average[index]);
            }
            for (stem, field) in words.stems {
                let Some((stem, sum)) =
                    usize::try_from(stem).ok().and_then(|index| Some((index, sums.get_mut(index)?)))
                else {
                    continue;
                };
                if *sum == 0.0 {
                    touched.push(stem);
                }
                *sum += weights[field as usize];
            }
            for stem in touched.drain(..) {
                if let (Some(sum), Some(list)) = (sums.get_mut(stem), postings.get_mut(stem)) {
                    list.push((tool, std::mem::take(sum)));
                }
            }
        }
        let mut take_postings = |number: u32| {
            usize::try_from(number).ok().and_then(|index| postings.get_mut(index)).map(std::mem::take)
        };
        let postings = stems
            .stems
            .into_iter()
            .filter_map(|(stem, number)| Some((stem, take_postings(number)?)))
            .collect();
        SearchIndex { count, postings, actions }
    }

    /// Returns the indices of the tools that match a query best, the best first: at most `limit`, and only those that
    /// `keep` accepts. Only the first 2,000 bytes of a query are read.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize, keep: impl Fn(usize) -> bool) -> Vec<usize> {
        let query = synonyms::replace_phrases(&query[..floor(query, MAX_QUERY_BYTES)]);
        let query_words = query_stems(&query);
        let mut scores = vec![0.0_f32; self.count];
        // The weight of the query's words that each tool contains, and the weight of all words.
        let (mut shares, mut total) = (vec![0.0_f32; self.count], 0.0);
        let mut best = vec![(0.0_f32, 0.0_f32); self.count];
        for word in &query_words {
            best.fill((0.0, 0.0));
            let mut rarest = 0.0_f32;
            let mut score_stem = |stem: &str, factor: f32| {
                let Some(postings) = self.postings.get(stem) else { return false };
                let rarity = self.rarity(postings.len());
                rarest = rarest.max(rarity);
                for (tool, count) in postings {
                    if let Some(best) = usize::try_from(*tool).ok().and_then(|tool| best.get_mut(tool)) {
                        let score = factor * rarity * count / (count + SATURATION);
                        if score > best.0 {
                            *best = (score, factor);
                        }
                    }
                }
                true
            };
            let mut is_indexed = score_stem(word, 1.0);
            for (synonym, weight) in synonyms::synonyms_of(word) {
                is_indexed |= score_stem(synonym, *weight);
            }
            if !is_indexed {
                self.stems_with_prefix(word).into_iter().for_each(|other| {
                    score_stem(other, PREFIX_WEIGHT);
                });
            }
            total += rarest;
            for ((score, share), best) in scores.iter_mut().zip(&mut shares).zip(&best) {
                *score += best.0;
                *share += best.1 * rarest;
            }
        }
        for (score, share) in scores.iter_mut().zip(shares) {
            *score *= 1.0 - COVERAGE_WEIGHT + COVERAGE_WEIGHT * share / total.max(f32::MIN_POSITIVE);
        }
        let requested_actions = actions_in_query(&query);
        let (requested_actions, factor) = if requested_actions.is_empty() {
            (&[Action::Read][..], READ_ONLY_BOOST)
        } else {
            (requested_actions, ACTION_BOOST)
        };
        for (score, actions) in scores.iter_mut().zip(&self.actions) {
            if actions.iter().any(|action| requested_actions.contains(action)) {
                *score *= factor;
            }
        }
        let mut ranked: Vec<(usize, f32)> =
            scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        ranked.into_iter().map(|(tool, _)| tool).filter(|tool| keep(*tool)).take(limit).collect()
    }

    fn rarity(&self, tools: usize) -> f32 {
        let (total, tools) = (to_f32(self.count), to_f32(tools));
        (1.0 + (total - tools + 0.5) / (tools + 0.5)).ln().powf(RARITY)
    }

    /// Returns indexed words with the same prefix as an unknown word, for languages without stemming.
    fn stems_with_prefix(&self, word: &str) -> Vec<&str> {
        let char_count = word.chars().count();
        let prefix_length = (char_count * 3).div_ceil(4).max(4);
        let Some((end, _)) = word
            .char_indices()
            .nth(prefix_length.min(char_count))
            .or((char_count >= prefix_length).then_some((word.len(), ' ')))
        else {
            return Vec::new();
        };
        let prefix = &word[..end];
        let stems = self.postings.range(prefix.to_owned()..).map(|(stem, _)| stem.as_str());
        stems.take_while(|stem| stem.starts_with(prefix)).take(16).collect()
    }
}

/// Returns the word stems of a query, in order. Filler words are skipped if there are other words.
fn query_stems(query: &str) -> Vec<String> {
    let (mut all, mut informative) = (BTreeSet::new(), BTreeSet::new());
    words(query, |word| {
        if all.len() < MAX_QUERY_WORDS {
            all.insert(stem(word));
            if !is_filler(word) {
                informative.insert(stem(word));
            }
        }
    });
    (if informative.is_empty() { all } else { informative }).into_iter().collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of tools and words are small")]
fn to_f32(count: usize) -> f32 {
    count as f32
}

/// The kind of action that a tool performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Read,
    Create,
    Update,
    Delete,
}

/// The verbs of each action.
const READ: &str = "get list fetch show read retrieve view look find search query describe check count download export see \
    which what who whom whose how where when is are has have does display browse inspect lookup watch all every i \
    return request provide";
const CREATE: &str = "create add new make post insert register upload send generate attach file buy invite share schedule \
    write append set submit begin start give grant put keep save follow import apply assign mark";
const UPDATE: &str = "update edit change modify patch set replace rename overwrite adjust fix configure move reorder choose \
    put alter rotate convert";
const DELETE: &str = "delete remove destroy drop erase purge clear rid unassign revoke wipe take kick lift release unlink \
    detach throw uninstall unfollow unsubscribe permanently";

/// Returns the actions that the verb with this stem means.
fn actions_of(stem: &str) -> &'static [Action] {
    static ACTIONS: OnceLock<BTreeMap<String, Vec<Action>>> = OnceLock::new();
    let by_stem = ACTIONS.get_or_init(|| {
        let mut by_stem: BTreeMap<String, Vec<Action>> = BTreeMap::new();
        for (list, action) in [
            (READ, Action::Read),
            (CREATE, Action::Create),
            (UPDATE, Action::Update),
            (DELETE, Action::Delete),
        ] {
            list.split_whitespace()
                .for_each(|word| by_stem.entry(words::stem(word)).or_default().push(action));
        }
        by_stem
    });
    by_stem.get(stem).map_or(&[], Vec::as_slice)
}

/// Returns the actions that the first verb of a query asks for; empty if it has none.
fn actions_in_query(query: &str) -> &'static [Action] {
    first_actions(query, 3)
}

/// Returns the actions of the first verb in the summary or the name of a tool.
fn actions_of_tool(spec: &ToolSpec, summary: &str) -> &'static [Action] {
    let verbs = first_actions(summary, 1);
    if !verbs.is_empty() {
        return verbs;
    }
    let name_actions = first_actions(spec.name.as_str(), 3);
    if name_actions.is_empty() && spec.effects.read_only { &[Action::Read] } else { name_actions }
}

fn first_actions(text: &str, max: usize) -> &'static [Action] {
    let (mut actions, mut word_count): (&[Action], usize) = (&[], 0);
    words(text, |word| {
        if actions.is_empty() && word_count < max {
            word_count += 1;
            actions = actions_of(&stem(word));
        }
    });
    actions
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::shape::read::read;
    use crate::schema::shape::render::canonical;
    use crate::schema::shape::{Def, Schema, Shape};
    use crate::spec::ToolName;

    #[test]
    fn unparsed_schema_is_indexed_like_a_parsed_one() {
        let shapes: Vec<Shape> = [
            json!({"type": "object", "required": ["body"], "properties": {
                "body": {"$ref": "#/$defs/Pet"}, "kind": {"$ref": "#/$defs/Kind", "description": "Which \"one\"."},
                "tags": {"type": ["array", "null"], "items": {"enum": ["small", "large", 5]}},
                "pair": {"type": "array", "prefixItems": [{"const": "left"}], "items": {"const": "right"}},
                "any": true, "never": false, "one": {"const": "only"}, "more": {"type": "object", "default": {"enum": [1]}}
            }}),
            json!({"type": "object", "description": "A pet.", "properties": {"name": {"type": "string"}, "enum": {}}}),
            json!({"enum": ["cat", "dog", null], "description": "What it is."}),
        ]
        .iter()
        .map(|schema| read(schema, &mut Vec::new()))
        .collect();
        let as_text = |shape: &Shape| Schema::text(String::leak(canonical(shape)));
        let as_tree = |shape: &Shape| Schema::from(shape.clone());
        let spec = |schema: &dyn Fn(&Shape) -> Schema| ToolSpec {
            name: ToolName::new("add_pet"),
            input: schema(&shapes[0]),
            defs: ["Kind", "Pet"]
                .into_iter()
                .zip([&shapes[2], &shapes[1]])
                .map(|(name, shape)| Def { name: name.into(), schema: schema(shape) })
                .collect(),
            ..ToolSpec::EMPTY
        };
        let (text, tree) = (spec(&as_text), spec(&as_tree));
        let index = SearchIndex::new([(&text, "")]);
        assert!(
            text.input.unparsed_text().is_some()
                && text.defs.iter().all(|def| def.schema.unparsed_text().is_some())
        );
        assert_eq!(index, SearchIndex::new([(&tree, "")]));
        for word in ["cat", "small", "name", "kind", "only", "one"] {
            assert_eq!(index.search(word, 1, |_| true), [0], "{word}");
        }
        assert!(!index.postings.contains_key("right") && !index.postings.contains_key("string"));
    }
}
