//! The size of a tool in a request, and the levers that bring it under a ceiling.

mod ladder;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use self::ladder::{Ladder, Source};
use super::{ToolSchema, ToolSpec};
use crate::base::frozen::{List, Text};
use crate::base::json::json_bytes;
use crate::base::truncate::{before_next, cut_at_sentence};
use crate::schema::dialect::Dialect;
use crate::schema::shape::render::{Loss, Refusal, Rendered, render_input};
use crate::schema::shape::slim::{self, Lever, Slim, Slimmed, Trim};
use crate::schema::shape::{Access, Def, Shape, object_in, prose};

impl ToolSchema<'_> {
    /// Returns the size of the tool without its name: the bytes of its description and of its schema as compact JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.description.len() + json_bytes(&self.schema)
    }
}

/// The forms of a tool, from the whole one to the smallest. The parts that dialects share are made once, and those that
/// other levers have as well, too.
#[derive(Debug)]
pub struct Forms<'a> {
    spec: &'a ToolSpec,
    slim: Cow<'a, Slim>,
    /// Whether what is trimmed is told.
    tells: bool,
    whole: Form<'a>,
    known: Rc<Known<'a>>,
}

/// What is known of a tool, whatever its levers.
#[derive(Debug, Default)]
struct Known<'a> {
    /// The source of smaller forms, once the tool is above a ceiling.
    source: OnceCell<Source<'a>>,
    /// How often the tool was rendered.
    renderings: Cell<usize>,
}

impl<'a> Forms<'a> {
    /// The forms of a tool under its own levers.
    pub fn of(spec: &'a ToolSpec) -> Forms<'a> {
        Forms::new(spec, Cow::Borrowed(&spec.slim))
    }

    pub(super) fn new(spec: &'a ToolSpec, slim: Cow<'a, Slim>) -> Forms<'a> {
        let whole = Form::new(spec, slim.clone(), true);
        Forms { spec, slim, tells: true, whole, known: Rc::default() }
    }

    /// The forms of the same tool under other levers, without what they trim: telling that takes most of the time.
    #[must_use]
    pub fn untold(&self, slim: Slim) -> Forms<'a> {
        let slim: Cow<'a, Slim> = Cow::Owned(slim);
        let whole = Form::new(self.spec, slim.clone(), false);
        Forms { spec: self.spec, slim, tells: false, whole, known: Rc::clone(&self.known) }
    }

    /// Whether the levers of two forms leave the same of their tool, as long as it is not above its ceiling.
    #[must_use]
    pub fn leave_the_same(&self, other: &Forms<'_>) -> bool {
        self.whole.is_same(&other.whole)
    }

    /// Returns how often the tool was rendered, under these levers and those that were tried besides.
    #[must_use]
    pub fn renderings(&self) -> usize {
        self.known.renderings.get()
    }

    /// Returns the names of the optional arguments that are shown, if the tool is not above its ceiling.
    pub fn optional(&self) -> Vec<Text> {
        let Forms { spec, slim, .. } = self;
        let Some(rules) = object_in(&spec.input, &spec.defs) else { return Vec::new() };
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
        self.measured(dialect).map(|(told, _)| told)
    }

    /// As [`schema`](Self::schema), with the bytes that the tool would take with no other levers than its own if it is
    /// above its ceiling.
    ///
    /// # Errors
    ///
    /// All reasons why the dialect cannot accept the arguments.
    pub fn measured(&self, dialect: &Dialect) -> Result<(ToolSchema<'a>, Option<usize>), Vec<Refusal>> {
        let Forms { spec, slim, tells, whole: form, known } = self;
        let render = |form: &Form<'a>| {
            known.renderings.set(known.renderings.get() + 1);
            form.render(dialect)
        };
        let whole = render(form)?;
        let told = |whole| Ok((ToolSchema { trims: form.trims(), ..whole }, None));
        if spec.exact {
            let lost = lost(&whole.losses, dialect);
            return if lost.is_empty() { told(whole) } else { Err(lost) };
        }
        let Some(ceiling) = slim.ceiling else { return told(whole) };
        let room = ceiling.saturating_sub(spec.name.as_str().len());
        let bytes = whole.bytes();
        if bytes <= room {
            return told(whole);
        }
        drop(whole);
        let source = known.source.get_or_init(|| Source::of(spec));
        let ladder = Ladder::new(source, slim, *tells);
        let shown = |form: &Form<'a>| render(form).ok();
        if let Some(told) = ladder.fitting(&self.optional(), &shown, !dialect.takes("$ref"), room) {
            return Ok((told, Some(bytes)));
        }
        let smallest = ladder.smallest();
        let mut told = ToolSchema { trims: smallest.trims(), ..render(&smallest)? };
        let what = format!("{} bytes are still more than the ceiling of {ceiling}", told.bytes());
        told.trims.push(Trim { pointer: String::new(), lever: Lever::Ceiling, what });
        Ok((told, Some(bytes)))
    }
}

/// A form of a tool: its arguments under some levers.
#[derive(Debug)]
struct Form<'a> {
    spec: &'a ToolSpec,
    slim: Cow<'a, Slim>,
    /// Whether what is trimmed is told.
    tells: bool,
    /// The smaller shape, if the levers change it; made on first use.
    slimmed: OnceCell<Option<Slimmed>>,
}

impl<'a> Form<'a> {
    fn new(spec: &'a ToolSpec, slim: Cow<'a, Slim>, tells: bool) -> Form<'a> {
        Form { spec, slim, tells, slimmed: OnceCell::new() }
    }

    fn slimmed(&self) -> Option<&Slimmed> {
        let Form { spec, slim, tells, slimmed } = self;
        let slimmed = slimmed.get_or_init(|| {
            let name = spec.name.as_str();
            (!slim.is_idle()).then(|| slim::slim_to(&spec.input, &spec.defs, name, slim, None, *tells))
        });
        slimmed.as_ref()
    }

    /// The arguments, and the named shapes that they refer to.
    fn parts(&self) -> (&Shape, &List<Def>) {
        match self.slimmed() {
            Some(slimmed) => (&slimmed.shape, &slimmed.defs),
            None => (&self.spec.input, &self.spec.defs),
        }
    }

    /// Whether another form of the tool says the same.
    fn is_same(&self, other: &Form<'_>) -> bool {
        let kept = self.slim.description.of(&self.spec.description);
        kept == other.slim.description.of(&other.spec.description) && self.parts() == other.parts()
    }

    /// Returns what is trimmed, if it is told.
    fn trims(&self) -> Vec<Trim> {
        let Form { spec, slim, .. } = self;
        if !self.tells {
            return Vec::new();
        }
        let kept = slim.description.of(&spec.description);
        let is_shorter = kept.len() < spec.description.len();
        let told = is_shorter.then(|| slim::shortened(&spec.description, &kept)).into_iter().flatten();
        let told = told.map(|(lever, what)| Trim { pointer: String::new(), lever, what });
        let slimmed = self.slimmed().into_iter().flat_map(|slimmed| slimmed.trims.iter().cloned());
        told.chain(slimmed).collect()
    }

    /// Renders the form, without what is trimmed.
    fn render(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        let Form { spec, slim, .. } = self;
        let (shape, defs) = self.parts();
        let Rendered { schema, mut losses } = render_input(shape, defs, dialect)?;
        let kept = slim.description.of(&spec.description);
        let note = deprecation(spec, &kept);
        let limit = dialect.tool_description_length.unwrap_or(usize::MAX);
        let description = match cut_at_sentence(&kept, limit.saturating_sub(note.chars().count())) {
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
        let description =
            if note.is_empty() { description } else { Cow::Owned(format!("{description}{note}")) };
        Ok(ToolSchema { description, schema, losses, trims: Vec::new() })
    }
}

/// How much of the text that names a replacement is shown, in characters.
const MAX_INSTEAD: usize = 200;

/// Returns what is added to the description of a deprecated tool, unless that says it already.
fn deprecation(spec: &ToolSpec, description: &str) -> String {
    let instead = match &spec.deprecated {
        Some(instead) if instead.trim().is_empty() && prose::says_deprecated(description) => {
            return String::new();
        }
        Some(instead) => cut_at_sentence(instead.trim(), MAX_INSTEAD),
        None => return String::new(),
    };
    let space = before_next(description);
    if instead.is_empty() {
        format!("{space}Deprecated: do not use it if another tool does the same.")
    } else {
        format!("{space}Deprecated: {instead}")
    }
}

/// Returns why a dialect is refused by a tool whose schema must be shown exactly.
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

#[cfg(test)]
mod tests;
