//! The size of a tool in a request, and the levers that bring it under a ceiling.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::{self, Write};
use std::rc::Rc;

use serde_json::Value;

use super::{ToolSchema, ToolSpec};
use crate::base::frozen::{List, Text};
use crate::base::truncate::cut_at_sentence;
use crate::schema::dialect::Dialect;
use crate::schema::shape::render::{Loss, Refusal, Rendered, render_input};
use crate::schema::shape::slim::{self, Lever, Slim, Slimmed, Trim, Words};
use crate::schema::shape::{Access, Kind, resolved};

impl ToolSchema<'_> {
    /// Returns the size of the tool without its name: the bytes of its description and of its schema as compact JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.description.len() + json_bytes(&self.schema)
    }
}

/// Returns the bytes of a value as compact JSON.
pub fn json_bytes(value: &Value) -> usize {
    let mut count = Count(0);
    // Counting does not fail, and neither does a value that has no foreign keys.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Counts what is written.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The forms of a tool, from the whole one to the smallest. What dialects share of them is made once.
#[derive(Debug)]
pub struct Forms<'a> {
    spec: &'a ToolSpec,
    slim: Cow<'a, Slim>,
    whole: Form<'a>,
    /// Forms with levers of growing effect, for a tool above its ceiling.
    steps: OnceCell<Vec<Form<'a>>>,
}

impl<'a> Forms<'a> {
    /// The forms of a tool under its own levers.
    pub fn of(spec: &'a ToolSpec) -> Forms<'a> {
        Forms::new(spec, Cow::Borrowed(&spec.slim))
    }

    pub(super) fn new(spec: &'a ToolSpec, slim: Cow<'a, Slim>) -> Forms<'a> {
        let whole = Form::new(spec, slim.clone());
        Forms { spec, slim, whole, steps: OnceCell::new() }
    }

    /// Returns the names of the optional arguments that are shown, if the tool is not above its ceiling.
    pub fn optional(&self) -> Vec<Text> {
        let Forms { spec, slim, .. } = self;
        let Some(Kind::Object(rules)) = resolved(&spec.input, &spec.defs).map(|shape| &shape.kind) else {
            return Vec::new();
        };
        let shown = rules.fields.iter().filter(|field| !field.required && field.access != Access::ReadOnly);
        let kept = |name: &Text| slim.optional.as_ref().is_none_or(|names: &List<Text>| names.contains(name));
        shown.map(|field| field.name.clone()).filter(kept).collect()
    }

    /// Renders the tool in a dialect, with as few levers as bring it under the ceiling.
    ///
    /// # Errors
    ///
    /// All reasons why the dialect cannot accept the arguments.
    pub fn schema(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        let Forms { spec, slim, whole, .. } = self;
        let whole = whole.render(dialect)?;
        if spec.exact {
            let lost = lost(&whole.losses, dialect);
            return if lost.is_empty() { Ok(whole) } else { Err(lost) };
        }
        let Some(ceiling) = slim.ceiling else { return Ok(whole) };
        let room = ceiling.saturating_sub(spec.name.as_str().len());
        if whole.bytes() <= room {
            return Ok(whole);
        }
        drop(whole);
        // A form that the dialect refuses does not fit; the next one is simpler.
        let fits = |form: &Form<'a>| form.render(dialect).ok().filter(|told| told.bytes() <= room);
        let steps = self.steps.get_or_init(|| {
            // What loses nothing is done once: it takes longer than all the rest.
            let arranged = Slim { inline: true, share: true, ..Slim::NONE };
            let arranged = Rc::new(slim::slim(&spec.input, &spec.defs, spec.name.as_str(), &arranged));
            let form = |slim| Form { from: Some(Rc::clone(&arranged)), ..Form::new(spec, Cow::Owned(slim)) };
            steps(slim).into_iter().map(form).collect()
        });
        if let Some(told) = first_that(steps.len(), |step| fits(&steps[step])) {
            return Ok(told);
        }
        let Some(last) = steps.last() else { return self.whole.render(dialect) };
        let names = self.optional();
        // The fewer arguments, the smaller: the last ones go first.
        let keeping = |gone: usize| {
            let optional = Some(names[..names.len() - gone].to_vec().into());
            let slim = Slim { optional, ..last.slim.as_ref().clone() };
            Form { from: last.from.clone(), ..Form::new(spec, Cow::Owned(slim)) }
        };
        if let Some(told) = first_that(names.len() + 1, |gone| fits(&keeping(gone))) {
            return Ok(told);
        }
        let mut told = keeping(names.len()).render(dialect)?;
        let what = format!("{} bytes are still more than the ceiling of {ceiling}", told.bytes());
        told.trims.push(Trim { pointer: String::new(), lever: Lever::Ceiling, what });
        Ok(told)
    }
}

/// A form of a tool: its arguments under some levers.
#[derive(Debug)]
struct Form<'a> {
    spec: &'a ToolSpec,
    slim: Cow<'a, Slim>,
    /// The shape that the levers are pulled on, if it is not that of the tool.
    from: Option<Rc<Slimmed>>,
    /// The smaller shape, if the levers change it; made on first use.
    slimmed: OnceCell<Option<Slimmed>>,
}

impl<'a> Form<'a> {
    fn new(spec: &'a ToolSpec, slim: Cow<'a, Slim>) -> Form<'a> {
        Form { spec, slim, from: None, slimmed: OnceCell::new() }
    }

    fn render(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        let Form { spec, slim, from, slimmed } = self;
        let tool = spec.name.as_str();
        let slimmed = slimmed.get_or_init(|| match from {
            Some(from) => {
                let mut slimmed = slim::slim(&from.shape, &from.defs, tool, slim);
                slimmed.trims.splice(..0, from.trims.iter().cloned());
                Some(slimmed)
            }
            None => (!slim.is_idle()).then(|| slim::slim(&spec.input, &spec.defs, tool, slim)),
        });
        let (shape, defs, mut trims) = match slimmed {
            Some(slimmed) => (&slimmed.shape, &slimmed.defs, slimmed.trims.clone()),
            None => (&*spec.input, &spec.defs, Vec::new()),
        };
        let Rendered { schema, mut losses } = render_input(shape, defs, dialect)?;
        let kept = slim.description.of(&spec.description);
        if kept.len() < spec.description.len() {
            let told = slim::shortened(&spec.description, &kept).into_iter();
            let told = told.map(|(lever, what)| Trim { pointer: String::new(), lever, what });
            trims.splice(..0, told);
        }
        let limit = dialect.tool_description_length.unwrap_or(usize::MAX);
        let description = match cut_at_sentence(&kept, limit) {
            Cow::Owned(cut) => {
                let reason = "the dialect takes no description of this length";
                losses.insert(
                    0,
                    Loss { pointer: String::new(), keyword: "description", in_prose: false, reason },
                );
                Cow::Owned(cut)
            }
            Cow::Borrowed(_) => kept,
        };
        Ok(ToolSchema { description, schema, losses, trims })
    }
}

/// Returns why a dialect is refused by a tool that wants to be told exactly.
fn lost(losses: &[Loss], dialect: &Dialect) -> Vec<Refusal> {
    let refusal = |loss: &Loss| Refusal {
        pointer: loss.pointer.clone(),
        reason: format!(
            "the tool is `exact`, and in {} {}; change the schema, or leave `exact` out",
            dialect.title,
            Loss { pointer: String::new(), ..loss.clone() }
        ),
    };
    losses.iter().filter(|loss| loss.weakens()).map(refusal).collect()
}

/// Returns the result for the first index that has one, if later ones have one, too.
fn first_that<T>(length: usize, fits: impl Fn(usize) -> Option<T>) -> Option<T> {
    let mut best = fits(length.checked_sub(1)?)?;
    let (mut low, mut high) = (0, length - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        match fits(middle) {
            Some(found) => (best, high) = (found, middle),
            None => low = middle + 1,
        }
    }
    Some(best)
}

/// Returns levers of growing effect, each with those before it: what loses nothing comes first, then texts that a call can
/// do without, then what is deep inside, and only then what the texts say of values.
fn steps(slim: &Slim) -> Vec<Slim> {
    let mut steps: Vec<Slim> = Vec::new();
    let mut slim = slim.clone();
    let mut step = |change: &dyn Fn(&mut Slim)| {
        change(&mut slim);
        steps.push(slim.clone());
    };
    // Named shapes are arranged already.
    step(&|slim| (slim.inline, slim.share) = (false, false));
    step(&|slim| (slim.drop_examples, slim.drop_restating) = (true, true));
    for (nested, parameters, description) in [
        (800, usize::MAX, usize::MAX),
        (400, usize::MAX, usize::MAX),
        (300, usize::MAX, usize::MAX),
        (200, 2_000, 8_000),
        (160, 1_000, 6_000),
        (120, 600, 4_000),
        (100, 400, 3_000),
        (80, 300, 2_000),
        (60, 200, 1_500),
        (40, 160, 1_000),
        (20, 120, 800),
        (0, 80, 600),
    ] {
        step(&|slim| {
            slim.nested = less(slim.nested, Words::Needed(nested));
            slim.parameters = less(slim.parameters, Words::Needed(parameters));
            slim.description = less(slim.description, Words::Needed(description));
        });
    }
    step(&|slim| slim.drop_closed = true);
    let deep =
        |slim: &mut Slim, depth: usize| slim.depth = Some(slim.depth.map_or(depth, |own| own.min(depth)));
    for depth in (3..=8).rev() {
        step(&|slim| deep(slim, depth));
    }
    step(&|slim| slim.values = Some(slim.values.map_or(40, |own| own.min(40))));
    step(&|slim| deep(slim, 2));
    step(&|slim| {
        slim.parameters = less(slim.parameters, Words::Needed(0));
        slim.nested = less(slim.nested, Words::Characters(80));
        slim.description = less(slim.description, Words::Characters(2_000));
    });
    step(&|slim| {
        slim.parameters = less(slim.parameters, Words::Sentence(120));
        slim.nested = Words::None;
        deep(slim, 1);
    });
    step(&|slim| {
        slim.description = less(slim.description, Words::Characters(600));
        slim.parameters = less(slim.parameters, Words::Sentence(40));
        slim.values = Some(slim.values.map_or(10, |own| own.min(10)));
    });
    steps
}

/// Returns the words that leave less, as far as that is known without the text.
fn less(own: Words, other: Words) -> Words {
    match (own, other) {
        // Whoever chose a length did so knowing what it leaves out.
        (Words::All | Words::Needed(_), Words::All)
        | (Words::Sentence(_) | Words::Characters(_), Words::All | Words::Needed(_))
        | (Words::None, _) => own,
        (Words::Characters(own), Words::Characters(limit)) => Words::Characters(own.min(limit)),
        (Words::Needed(own), Words::Needed(limit)) => Words::Needed(own.min(limit)),
        (
            Words::Sentence(own) | Words::Characters(own),
            Words::Sentence(limit) | Words::Characters(limit),
        ) => Words::Sentence(own.min(limit)),
        (Words::All | Words::Needed(_), other) | (_, other @ Words::None) => other,
    }
}

#[cfg(test)]
mod tests;
