//! What would save tokens: the levers, one by one.

use toolgen_core::schema::dialect::Dialect;
use toolgen_core::schema::shape::Slim;
use toolgen_core::schema::shape::slim::Words;

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
        let total = self.total();
        let mut left = [0; LEVERS.len()];
        for tool in tools {
            let mut spec = tool.spec.clone();
            // Most levers change little, and a text that is known need not be counted again.
            let mut known: Vec<(String, usize)> = Vec::new();
            for ((_, pull), left) in LEVERS.iter().zip(&mut left) {
                spec.slim = tool.spec.slim.clone();
                pull(&mut spec.slim);
                let Ok(told) = written(&spec, dialect).map(|told| told.to_string()) else { continue };
                *left += match known.iter().find(|(text, _)| *text == told) {
                    Some((_, tokens)) => *tokens,
                    None => {
                        let tokens = self.tokenizer.count(&told);
                        known.push((told, tokens));
                        tokens
                    }
                };
            }
        }
        let saving =
            |((levers, _), left): (&Lever, usize)| Saving { levers, tokens: total.saturating_sub(left) };
        let savings = LEVERS.iter().zip(left).map(saving);
        let mut savings: Vec<Saving> = savings.filter(|saving| saving.tokens > 0).collect();
        savings.sort_by_key(|saving| std::cmp::Reverse(saving.tokens));
        self.savings = savings;
        self
    }
}
