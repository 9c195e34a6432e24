//! The size of a tool in a request, and the reductions that bring it under a ceiling.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::iter::successors;

use serde_json::Value;

use super::ToolSpec;
use crate::base::frozen::{List, Text};
use crate::base::json::json_bytes;
use crate::base::truncate::{before_next, cut_at_sentence};
use crate::schema::dialect::Dialect;
use crate::schema::shape::render::{Loss, Refusal, Rendered, render_input};
use crate::schema::shape::slim::{
    self, DescriptionLimit, Expansion, ExpansionOrder, Slim, Slimmed, Trim, TrimKind,
};
use crate::schema::shape::{Access, Def, Shape, object_in, prose};

/// Length of descriptions inside arguments at which the number of nested parts is chosen, in characters. If there is
/// more room, descriptions are longer. They are shorter only if the arguments alone do not fit.
const SHORT: usize = 40;

/// Returns lengths of descriptions inside arguments, each one seventh less than the previous one: from unlimited to
/// [`SHORT`], and below it.
fn lengths() -> (Vec<usize>, Vec<usize>) {
    let shorter = |length: &usize| Some(length - length.div_ceil(7)).filter(|length| *length > 0);
    let lengths = [usize::MAX].into_iter().chain(successors(Some(20_000), shorter)).chain([0]);
    lengths.partition(|length| *length >= SHORT)
}

/// A tool in the form that a vendor accepts, with what was lost. See [`ToolSpec::schema`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema<'a> {
    /// The description of the tool, cut at the end of a sentence if the dialect limits its length.
    pub description: Cow<'a, str>,
    /// The schema of the arguments.
    pub schema: Value,
    /// The rules that could not be expressed, and where they are described instead. A loss of the keyword
    /// `description` means that the description of the tool was cut.
    pub losses: Vec<Loss>,
    /// What was trimmed, by the reductions of the tool or because it exceeded its ceiling. The locations are those of
    /// the schema before conversion to the dialect.
    pub trims: Vec<Trim>,
}

impl ToolSchema<'_> {
    /// Returns the size of the tool without its name: the bytes of its description and of its schema as compact JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.description.len() + json_bytes(&self.schema)
    }
}

/// The forms of a tool, from the full one to the smallest.
#[derive(Debug)]
pub struct Forms<'a> {
    /// The form with the tool's own reductions.
    whole: Form<'a>,
}

impl<'a> Forms<'a> {
    /// Creates the forms of a tool with its own reductions.
    pub fn of(spec: &'a ToolSpec) -> Forms<'a> {
        Forms::new(spec, Cow::Borrowed(&spec.slim))
    }

    pub(super) fn new(spec: &'a ToolSpec, slim: Cow<'a, Slim>) -> Forms<'a> {
        Forms { whole: Form { spec, slim, tells: true, slimmed: OnceCell::new() } }
    }

    /// Returns the forms of the same tool with other reductions, without a report of what they trim: the report takes
    /// most of the time.
    #[must_use]
    pub fn untold(&self, slim: Slim) -> Forms<'a> {
        let mut forms = Forms::new(self.whole.spec, Cow::Owned(slim));
        forms.whole.tells = false;
        forms
    }

    /// Whether the reductions of two forms give the same tool, provided that it does not exceed its ceiling.
    #[must_use]
    pub fn leave_the_same(&self, other: &Forms<'_>) -> bool {
        self.whole.is_same(&other.whole)
    }

    /// Returns the names of the optional arguments that are shown if the tool does not exceed its ceiling.
    pub fn optional(&self) -> Vec<Text> {
        let Form { spec, slim, .. } = &self.whole;
        let Some(rules) = object_in(&spec.input, &spec.defs) else { return Vec::new() };
        let visible = rules.fields.iter().filter(|field| !field.required && field.access != Access::ReadOnly);
        let kept = |name: &Text| slim.optional.as_ref().is_none_or(|names: &List<Text>| names.contains(name));
        visible.map(|field| field.name.clone()).filter(kept).collect()
    }

    /// Renders the tool in a dialect, with the smallest reductions that bring it under the ceiling.
    ///
    /// # Errors
    ///
    /// Returns all reasons why the dialect cannot accept the arguments.
    pub fn schema(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        self.measured(dialect).map(|(message, _)| message)
    }

    /// Like [`schema`](Self::schema). If the tool exceeds its ceiling, also returns its size with only its own
    /// reductions, in bytes.
    ///
    /// # Errors
    ///
    /// Returns all reasons why the dialect cannot accept the arguments.
    pub fn measured(&self, dialect: &Dialect) -> Result<(ToolSchema<'a>, Option<usize>), Vec<Refusal>> {
        let Form { spec, slim, .. } = &self.whole;
        let whole = self.whole.told(dialect)?;
        if spec.exact {
            let lost = lost(&whole.losses, dialect);
            return if lost.is_empty() { Ok((whole, None)) } else { Err(lost) };
        }
        let bytes = whole.bytes();
        let Some(ceiling) = slim.ceiling else { return Ok((whole, None)) };
        let room = ceiling.saturating_sub(spec.name.as_str().len());
        if bytes <= room {
            return Ok((whole, None));
        }
        drop(whole);
        if let Some(message) = self.smaller(dialect, room) {
            return Ok((message, Some(bytes)));
        }
        let order = ExpansionOrder::of(&spec.input, &spec.defs);
        let smallest = Slim { optional: Some(List::EMPTY), ..self.without_texts() };
        let mut message = self.form(smallest, &order, 0).told(dialect)?;
        let what = format!("{} bytes are still more than the ceiling of {ceiling}", message.bytes());
        message.trims.push(Trim { pointer: String::new(), lever: TrimKind::Ceiling, what });
        Ok((message, Some(bytes)))
    }

    /// Renders the largest form that fits. It has as many nested parts as fit with short descriptions, and then as
    /// much text as fits. If it is still too large, all descriptions are removed, and then optional arguments,
    /// starting with the last.
    ///
    /// A form that the dialect rejects does not fit; the next form is simpler.
    fn smaller(&self, dialect: &Dialect, room: usize) -> Option<ToolSchema<'a>> {
        let spec = self.whole.spec;
        let order = ExpansionOrder::of(&spec.input, &spec.defs);
        let fits = |slim: Slim, count: usize| {
            self.form(slim, &order, count).told(dialect).ok().filter(|message| message.bytes() <= room)
        };
        let (long, brief) = lengths();
        let of_length = |lengths: &[usize], at: usize, count| fits(self.shortened(*lengths.get(at)?), count);
        let all = order.len();
        if let Some((closed, message)) =
            first_that(all + 1, |closed| fits(self.shortened(SHORT), all - closed))
        {
            let richer = first_that(long.len(), |at| of_length(&long, at, all - closed));
            return Some(richer.map_or(message, |(_, message)| message));
        }
        let names = self.optional();
        let fewer = |gone: usize| {
            let kept = names.get(..names.len() - gone)?.to_vec();
            fits(Slim { optional: Some(kept.into()), ..self.without_texts() }, 0)
        };
        let reported = first_that(brief.len(), |at| of_length(&brief, at, 0));
        reported.or_else(|| first_that(names.len() + 1, fewer)).map(|(_, message)| message)
    }

    /// Returns the reductions that give descriptions inside arguments this length; other descriptions may be longer.
    fn shortened(&self, length: usize) -> Slim {
        let own = &self.whole.slim;
        Slim {
            description: own.description.at_most(length.saturating_mul(16).saturating_add(600)),
            parameters: own.parameters.at_most(length.saturating_mul(4).saturating_add(80)),
            nested: own.nested.at_most(length),
            drop_examples: true,
            inline: true,
            ..Slim::clone(own)
        }
    }

    /// Returns the reductions that remove all descriptions of arguments.
    fn without_texts(&self) -> Slim {
        Slim { parameters: DescriptionLimit::None, ..self.shortened(0) }
    }

    /// Returns the form with other reductions, and this number of nested parts.
    fn form(&self, slim: Slim, order: &ExpansionOrder, count: usize) -> Form<'a> {
        let Form { spec, tells, .. } = self.whole;
        let expansion = Some(Expansion { order, count });
        let slimmed = slim::slim_to(&spec.input, &spec.defs, &slim, expansion, tells);
        Form { spec, slim: Cow::Owned(slim), tells, slimmed: OnceCell::from(Some(slimmed)) }
    }
}

/// Returns the first result and its index, by binary search: if one index has a result, so have all later ones.
fn first_that<T>(length: usize, find: impl Fn(usize) -> Option<T>) -> Option<(usize, T)> {
    let (mut low, mut high) = (0, length.checked_sub(1)?);
    let mut best = find(high)?;
    while low < high {
        let middle = low.midpoint(high);
        match find(middle) {
            Some(found) => (best, high) = (found, middle),
            None => low = middle + 1,
        }
    }
    Some((high, best))
}

/// A form of a tool: its arguments with some reductions.
#[derive(Debug)]
struct Form<'a> {
    spec: &'a ToolSpec,
    slim: Cow<'a, Slim>,
    /// Whether the form reports what is trimmed.
    tells: bool,
    /// The smaller shape, if the reductions change it; computed on first use.
    slimmed: OnceCell<Option<Slimmed>>,
}

impl<'a> Form<'a> {
    fn slimmed(&self) -> Option<&Slimmed> {
        let Form { spec, slim, tells, slimmed } = self;
        let slimmed = slimmed.get_or_init(|| {
            (!slim.is_idle()).then(|| slim::slim_to(&spec.input, &spec.defs, slim, None, *tells))
        });
        slimmed.as_ref()
    }

    /// Returns the arguments, and the named shapes that they refer to.
    fn parts(&self) -> (&Shape, &List<Def>) {
        match self.slimmed() {
            Some(slimmed) => (&slimmed.shape, &slimmed.defs),
            None => (&self.spec.input, &self.spec.defs),
        }
    }

    /// Whether another form of the tool has the same content.
    fn is_same(&self, other: &Form<'_>) -> bool {
        let kept = self.slim.description.of(&self.spec.description);
        kept == other.slim.description.of(&other.spec.description) && self.parts() == other.parts()
    }

    /// Renders the form, with a report of what is trimmed.
    fn told(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        Ok(ToolSchema { trims: self.trims(), ..self.render(dialect)? })
    }

    /// Returns what is trimmed, if the form reports it.
    fn trims(&self) -> Vec<Trim> {
        let Form { spec, slim, .. } = self;
        if !self.tells {
            return Vec::new();
        }
        let kept = slim.description.of(&spec.description);
        let message =
            (kept.len() < spec.description.len()).then(|| slim::shortened(&spec.description, &kept));
        let message = message.map(|what| Trim { pointer: String::new(), lever: TrimKind::Description, what });
        let slimmed = self.slimmed().into_iter().flat_map(|slimmed| slimmed.trims.iter().cloned());
        message.into_iter().chain(slimmed).collect()
    }

    /// Renders the form, without a report of what is trimmed.
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

/// Maximum length of the text about a replacement that is shown, in characters.
const MAX_REPLACEMENT_SHOWN: usize = 200;

/// Returns the note for the description of a deprecated tool, unless the description already mentions it.
fn deprecation(spec: &ToolSpec, description: &str) -> String {
    let instead = match &spec.deprecated {
        Some(instead) if instead.trim().is_empty() && prose::states_deprecated(description) => {
            return String::new();
        }
        Some(instead) => cut_at_sentence(instead.trim(), MAX_REPLACEMENT_SHOWN),
        None => return String::new(),
    };
    let space = before_next(description);
    if instead.is_empty() {
        format!("{space}Deprecated: do not use it if another tool does the same.")
    } else {
        format!("{space}Deprecated: {instead}")
    }
}

/// Returns why a dialect cannot represent a tool that is `exact`.
fn lost(losses: &[Loss], dialect: &Dialect) -> Vec<Refusal> {
    let refusal = |loss: &Loss| Refusal {
        pointer: loss.pointer.clone(),
        reason: format!(
            "the tool is `exact`, and in {} {}; change the schema, or omit `exact`",
            dialect.title,
            Loss { pointer: String::new(), ..loss.clone() }
        ),
    };
    losses.iter().filter(|loss| loss.weakens()).map(refusal).collect()
}

#[cfg(test)]
mod tests;
