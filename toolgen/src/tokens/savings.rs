//! What each lever would save.

use toolgen_core::ToolSpec;
use toolgen_core::internal::Forms;
use toolgen_core::schema::dialect::Dialect;
use toolgen_core::schema::shape::Slim;
use toolgen_core::schema::shape::slim::DescriptionLimit;

use super::counter::Counter;
use super::{Rendering, Report, Tokenizer, count, written};
use crate::tool::Tool;

/// What a lever would save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The lever, as `--slim` takes it.
    pub levers: &'static str,
    /// The tokens of all tools together.
    pub tokens: usize,
}

/// A lever: its syntax, and its effect.
type Lever = (&'static str, fn(&mut Slim));

const LEVERS: [Lever; 11] = [
    ("description=sentence", |slim| slim.description = DescriptionLimit::Sentence(usize::MAX)),
    ("parameters=sentence", |slim| slim.parameters = DescriptionLimit::Sentence(usize::MAX)),
    ("parameters=none", |slim| slim.parameters = DescriptionLimit::None),
    ("nested=sentence", |slim| slim.nested = DescriptionLimit::Sentence(usize::MAX)),
    ("nested=none", |slim| slim.nested = DescriptionLimit::None),
    ("examples=drop", |slim| slim.drop_examples = true),
    ("optional=drop", |slim| slim.optional = Some(toolgen_core::List::EMPTY)),
    ("closed=drop", |slim| slim.drop_closed = true),
    ("inline=on", |slim| slim.inline = true),
    ("depth=2", |slim| slim.depth = Some(2)),
    ("compact", |slim| *slim = Slim::COMPACT),
];

/// A tool that was counted with its own levers.
struct Counted<'a> {
    spec: &'a ToolSpec,
    forms: Forms<'a>,
    tokens: usize,
    is_above: bool,
}

impl Report {
    /// As [`of`](Report::of), with what each lever alone would save, on top of the tools' own. Only requests have
    /// levers.
    #[must_use]
    pub fn with_savings(
        tools: &[&Tool],
        dialect: &Dialect,
        rendering: Rendering,
        tokenizer: Tokenizer,
    ) -> Report {
        let counter = Counter::new(tokenizer);
        let (mut all, mut counted) = (Vec::new(), Vec::new());
        for tool in tools {
            let (spec, forms) = (&tool.spec, Forms::of(&tool.spec));
            let (message, is_above) = count(tool, &forms, dialect, rendering, &counter);
            counted.push(Counted { spec, forms, tokens: message.tokens, is_above });
            all.push(message);
        }
        let report = Report::new(all, dialect, rendering, tokenizer);
        if rendering != Rendering::Full {
            return report;
        }
        let total = report.total();
        let saving = |(levers, pull): &Lever| {
            let remaining: usize = counted.iter().map(|one| one.left(*pull, dialect, &counter)).sum();
            Saving { levers, tokens: total.saturating_sub(remaining) }
        };
        let mut savings: Vec<Saving> = LEVERS.iter().map(saving).filter(|saving| saving.tokens > 0).collect();
        savings.sort_by_key(|saving| std::cmp::Reverse(saving.tokens));
        Report { savings, ..report }
    }
}

impl Counted<'_> {
    /// Returns the tokens of the tool if a lever is added.
    fn left(&self, pull: fn(&mut Slim), dialect: &Dialect, counter: &Counter) -> usize {
        let Counted { spec, forms, tokens, is_above } = self;
        let mut spec = (*spec).clone();
        let ceiling = spec.slim.ceiling;
        pull(&mut spec.slim);
        let less = forms.untold(spec.slim.clone());
        // Above its ceiling, the rendering of a tool depends on more than the effect of its levers.
        if !is_above && ceiling == spec.slim.ceiling && less.leave_the_same(forms) {
            return *tokens;
        }
        less.schema(dialect).map_or(0, |message| counter.count(&written(&spec, dialect, message)))
    }
}
