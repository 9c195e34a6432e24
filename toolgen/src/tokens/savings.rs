//! What would save tokens: the levers, one by one.

use toolgen_core::ToolSpec;
use toolgen_core::schema::dialect::Dialect;
use toolgen_core::schema::shape::Slim;
use toolgen_core::schema::shape::slim::Words;

use super::counter::Counter;
use super::{Rendering, Report, written};
use crate::tool::Tool;

/// What a lever would save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The lever, as `--slim` takes it.
    pub levers: &'static str,
    /// The tokens of all tools together.
    pub tokens: usize,
}

/// A lever: how it is written, and what it does.
type Lever = (&'static str, fn(&mut Slim));

const LEVERS: [Lever; 11] = [
    ("description=sentence", |slim| slim.description = Words::Sentence(usize::MAX)),
    ("parameters=sentence", |slim| slim.parameters = Words::Sentence(usize::MAX)),
    ("parameters=none", |slim| slim.parameters = Words::None),
    ("nested=sentence", |slim| slim.nested = Words::Sentence(usize::MAX)),
    ("nested=none", |slim| slim.nested = Words::None),
    ("examples=drop", |slim| slim.drop_examples = true),
    ("restating=drop", |slim| slim.drop_restating = true),
    ("optional=drop", |slim| slim.optional = Some(toolgen_core::List::EMPTY)),
    ("inline=on, share=on", |slim| (slim.inline, slim.share) = (true, true)),
    ("depth=2", |slim| slim.depth = Some(2)),
    ("compact", |slim| *slim = Slim::COMPACT),
];

impl Report {
    /// Adds what each lever would save alone, on top of the tools' own. Only requests have levers.
    #[must_use]
    pub fn with_savings(mut self, tools: &[&Tool], dialect: &Dialect) -> Report {
        if !matches!(self.rendering, Rendering::Full) {
            return self;
        }
        let counter = Counter::new(self.tokenizer);
        let tokens = |spec: &ToolSpec| {
            let told = spec.schema(dialect);
            told.map_or(0, |told| counter.count(&written(spec, dialect, told)))
        };
        let total = self.total();
        let saving = |(levers, pull): &Lever| {
            let with = |tool: &&Tool| {
                let mut spec = tool.spec.clone();
                pull(&mut spec.slim);
                tokens(&spec)
            };
            let left: usize = tools.iter().map(with).sum();
            Saving { levers, tokens: total.saturating_sub(left) }
        };
        let mut savings: Vec<Saving> = LEVERS.iter().map(saving).filter(|saving| saving.tokens > 0).collect();
        savings.sort_by_key(|saving| std::cmp::Reverse(saving.tokens));
        self.savings = savings;
        self
    }
}
