//! The savings of each lever.

use toolgen_core::ToolSpec;
use toolgen_core::internal::Forms;
use toolgen_core::schema::dialect::Dialect;
use toolgen_core::schema::shape::Slim;
use toolgen_core::schema::shape::slim::DescriptionLimit;

use super::counter::Counter;
use super::{Rendering, Report, Tokenizer, count, wire_form};
use crate::tool::Tool;

/// The saving of a lever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The lever, in the syntax of `--slim`.
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
    exceeds_ceiling: bool,
}

impl Report {
    /// Counts tokens as [`of`](Report::of) does, and what each lever alone would save in addition to the levers that
    /// the tools already have. Only requests have levers.
    #[must_use]
    pub fn with_savings(
        tools: &[&Tool],
        dialect: &Dialect,
        rendering: Rendering,
        tokenizer: Tokenizer,
    ) -> Report {
        let counter = Counter::new(tokenizer);
        let (mut tool_tokens, mut counted) = (Vec::new(), Vec::new());
        for tool in tools {
            let (spec, forms) = (&tool.spec, Forms::of(&tool.spec));
            let (counted_tool, exceeds_ceiling) = count(tool, &forms, dialect, rendering, &counter);
            counted.push(Counted { spec, forms, tokens: counted_tool.tokens, exceeds_ceiling });
            tool_tokens.push(counted_tool);
        }
        let report = Report::new(tool_tokens, dialect, rendering, tokenizer);
        if rendering != Rendering::Full {
            return report;
        }
        let total = report.total();
        let saving = |(levers, apply): &Lever| {
            let remaining: usize =
                counted.iter().map(|tool| tool.tokens_with(*apply, dialect, &counter)).sum();
            Saving { levers, tokens: total.saturating_sub(remaining) }
        };
        let mut savings: Vec<Saving> = LEVERS.iter().map(saving).filter(|saving| saving.tokens > 0).collect();
        savings.sort_by_key(|saving| std::cmp::Reverse(saving.tokens));
        Report { savings, ..report }
    }
}

impl Counted<'_> {
    /// Returns the tokens of the tool if a lever is added.
    fn tokens_with(&self, apply: fn(&mut Slim), dialect: &Dialect, counter: &Counter) -> usize {
        let Counted { spec, forms, tokens, exceeds_ceiling } = self;
        let mut spec = (*spec).clone();
        let ceiling = spec.slim.ceiling;
        apply(&mut spec.slim);
        let trimmed = forms.untold(spec.slim.clone());
        // Above its ceiling, the rendering of a tool depends on more than the effect of its levers.
        if !exceeds_ceiling && ceiling == spec.slim.ceiling && trimmed.leave_the_same(forms) {
            return *tokens;
        }
        trimmed.schema(dialect).map_or(0, |schema| counter.count(&wire_form(&spec, dialect, schema)))
    }
}
