//! The size of a tool in a request, and the reductions that bring it under a ceiling.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::iter::successors;

use serde_json::Value;

use super::ToolSpec;
use crate::base::frozen::{List, Text};
use crate::base::json::json_bytes;
use crate::base::truncate::{cut_at_sentence, sentence_separator};
use crate::schema::dialect::Dialect;
use crate::schema::shape::render::{Loss, Refusal, Rendered, render_input};
use crate::schema::shape::slim::{
    self, DescriptionLimit, Expansion, ExpansionOrder, Slim, Slimmed, Trim, TrimKind,
};
use crate::schema::shape::{Access, Def, Shape, object_in, prose};

/// Length of descriptions inside arguments at which the number of nested parts is chosen, in characters. If there is
/// more room, descriptions are longer. They are shorter only if the arguments alone do not fit.
const SHORT_DESCRIPTION: usize = 40;

/// Returns lengths of descriptions inside arguments, each one seventh less than the previous one: from unlimited to
/// [`SHORT_DESCRIPTION`], and below it.
fn lengths() -> (Vec<usize>, Vec<usize>) {
    let shorter = |length: &usize| Some(length - length.div_ceil(7)).filter(|length| *length > 0);
    let lengths = [usize::MAX].into_iter().chain(successors(Some(20_000), shorter)).chain([0]);
    lengths.partition(|length| *length >= SHORT_DESCRIPTION)
}

/// A tool in the form that a vendor accepts, with the rules that were lost. See [`ToolSpec::schema`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema<'a> {
    /// The description of the tool, cut at the end of a sentence if the dialect limits its length.
    pub description: Cow<'a, str>,
    /// The schema of the arguments.
    pub schema: Value,
    /// The rules that could not be expressed, and where they are described instead. A loss of the keyword
    /// `description` means that the description of the tool was cut.
    pub losses: Vec<Loss>,
    /// The trims that were applied, by the reductions of the tool or because it exceeded its ceiling. The locations are
    /// those of the schema before conversion to the dialect.
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
    full: Form<'a>,
}

impl<'a> Forms<'a> {
    /// Creates the forms of a tool with its own reductions.
    pub fn of(spec: &'a ToolSpec) -> Forms<'a> {
        Forms::new(spec, Cow::Borrowed(&spec.slim))
    }

    pub(super) fn new(spec: &'a ToolSpec, slim: Cow<'a, Slim>) -> Forms<'a> {
        Forms { full: Form { spec, slim, has_report: true, slimmed: OnceCell::new() } }
    }

    /// Returns the forms of the same tool with other reductions, without a report of the trimmed parts: the report
    /// takes most of the time.
    #[must_use]
    pub fn untold(&self, slim: Slim) -> Forms<'a> {
        let mut forms = Forms::new(self.full.spec, Cow::Owned(slim));
        forms.full.has_report = false;
        forms
    }

    /// Whether the reductions of two forms give the same tool, provided that it does not exceed its ceiling.
    #[must_use]
    pub fn leave_the_same(&self, other: &Forms<'_>) -> bool {
        self.full.has_same_content(&other.full)
    }

    /// Returns the names of the optional arguments that are shown if the tool does not exceed its ceiling.
    pub fn optional(&self) -> Vec<Text> {
        let Form { spec, slim, .. } = &self.full;
        let Some(rules) = object_in(&spec.input, &spec.defs) else { return Vec::new() };
        let visible = rules.fields.iter().filter(|field| !field.required && field.access != Access::ReadOnly);
        let is_kept =
            |name: &Text| slim.optional.as_ref().is_none_or(|names: &List<Text>| names.contains(name));
        visible.map(|field| field.name.clone()).filter(is_kept).collect()
    }

    /// Renders the tool in a dialect, with the smallest reductions that bring it under the ceiling.
    ///
    /// # Errors
    ///
    /// Returns all reasons why the dialect cannot accept the arguments.
    pub fn schema(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        self.measured(dialect).map(|(rendered, _)| rendered)
    }

    /// Like [`schema`](Self::schema). If the tool exceeds its ceiling, also returns its size with only its own
    /// reductions, in bytes.
    ///
    /// # Errors
    ///
    /// Returns all reasons why the dialect cannot accept the arguments.
    pub fn measured(&self, dialect: &Dialect) -> Result<(ToolSchema<'a>, Option<usize>), Vec<Refusal>> {
        let Form { spec, slim, .. } = &self.full;
        let full = self.full.render_with_report(dialect)?;
        if spec.exact {
            let refusals = exact_refusals(&full.losses, dialect);
            return if refusals.is_empty() { Ok((full, None)) } else { Err(refusals) };
        }
        let bytes = full.bytes();
        let Some(ceiling) = slim.ceiling else { return Ok((full, None)) };
        let limit = ceiling.saturating_sub(spec.name.as_str().len());
        if bytes <= limit {
            return Ok((full, None));
        }
        drop(full);
        if let Some(rendered) = self.largest_fitting(dialect, limit) {
            return Ok((rendered, Some(bytes)));
        }
        let order = ExpansionOrder::of(&spec.input, &spec.defs);
        let smallest = Slim { optional: Some(List::EMPTY), ..self.without_descriptions() };
        let mut rendered = self.form(smallest, &order, 0).render_with_report(dialect)?;
        let what = format!("{} bytes are still more than the ceiling of {ceiling}", rendered.bytes());
        rendered.trims.push(Trim { pointer: String::new(), lever: TrimKind::Ceiling, what });
        Ok((rendered, Some(bytes)))
    }

    /// Renders the largest form that fits. It has as many nested parts as fit with short descriptions, and then as
    /// much text as fits. If it is still too large, all descriptions are removed, and then optional arguments,
    /// starting with the last.
    ///
    /// A form that the dialect rejects does not fit; the next form is simpler.
    fn largest_fitting(&self, dialect: &Dialect, limit: usize) -> Option<ToolSchema<'a>> {
        let spec = self.full.spec;
        let order = ExpansionOrder::of(&spec.input, &spec.defs);
        let render_if_fits = |slim: Slim, count: usize| {
            self.form(slim, &order, count)
                .render_with_report(dialect)
                .ok()
                .filter(|rendered| rendered.bytes() <= limit)
        };
        let (long, short) = lengths();
        let with_length = |lengths: &[usize], index: usize, count| {
            render_if_fits(self.with_description_length(*lengths.get(index)?), count)
        };
        let part_count = order.len();
        if let Some((omitted, rendered)) = first_result(part_count + 1, |omitted| {
            render_if_fits(self.with_description_length(SHORT_DESCRIPTION), part_count - omitted)
        }) {
            let longer = first_result(long.len(), |index| with_length(&long, index, part_count - omitted));
            return Some(longer.map_or(rendered, |(_, rendered)| rendered));
        }
        let names = self.optional();
        let with_fewer_arguments = |dropped: usize| {
            let kept = names.get(..names.len() - dropped)?.to_vec();
            render_if_fits(Slim { optional: Some(kept.into()), ..self.without_descriptions() }, 0)
        };
        let shortened = first_result(short.len(), |index| with_length(&short, index, 0));
        shortened
            .or_else(|| first_result(names.len() + 1, with_fewer_arguments))
            .map(|(_, rendered)| rendered)
    }

    /// Returns the reductions that give descriptions inside arguments this length; other descriptions may be longer.
    fn with_description_length(&self, length: usize) -> Slim {
        let slim = &self.full.slim;
        Slim {
            description: slim.description.at_most(length.saturating_mul(16).saturating_add(600)),
            parameters: slim.parameters.at_most(length.saturating_mul(4).saturating_add(80)),
            nested: slim.nested.at_most(length),
            drop_examples: true,
            inline: true,
            ..Slim::clone(slim)
        }
    }

    /// Returns the reductions that remove all descriptions of arguments.
    fn without_descriptions(&self) -> Slim {
        Slim { parameters: DescriptionLimit::None, ..self.with_description_length(0) }
    }

    /// Returns the form with other reductions, and this number of nested parts.
    fn form(&self, slim: Slim, order: &ExpansionOrder, count: usize) -> Form<'a> {
        let Form { spec, has_report, .. } = self.full;
        let expansion = Some(Expansion { order, count });
        let slimmed = slim::slim_to(&spec.input, &spec.defs, &slim, expansion, has_report);
        Form { spec, slim: Cow::Owned(slim), has_report, slimmed: OnceCell::from(Some(slimmed)) }
    }
}

/// Returns the first result and its index, by binary search: if an index has a result, all later indices have one.
fn first_result<T>(length: usize, find: impl Fn(usize) -> Option<T>) -> Option<(usize, T)> {
    let (mut low, mut high) = (0, length.checked_sub(1)?);
    let mut best = find(high)?;
    while low < high {
        let middle = low.midpoint(high);
        match find(middle) {
            Some(result) => (best, high) = (result, middle),
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
    /// Whether the form reports its trims.
    has_report: bool,
    /// The smaller shape, if the reductions change it; computed on first use.
    slimmed: OnceCell<Option<Slimmed>>,
}

impl<'a> Form<'a> {
    fn slimmed(&self) -> Option<&Slimmed> {
        let Form { spec, slim, has_report, slimmed } = self;
        let slimmed = slimmed.get_or_init(|| {
            (!slim.is_idle()).then(|| slim::slim_to(&spec.input, &spec.defs, slim, None, *has_report))
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
    fn has_same_content(&self, other: &Form<'_>) -> bool {
        let kept = self.slim.description.of(&self.spec.description);
        kept == other.slim.description.of(&other.spec.description) && self.parts() == other.parts()
    }

    /// Renders the form, with a report of its trims.
    fn render_with_report(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        Ok(ToolSchema { trims: self.trims(), ..self.render(dialect)? })
    }

    /// Returns the trims, if the form reports them.
    fn trims(&self) -> Vec<Trim> {
        let Form { spec, slim, .. } = self;
        if !self.has_report {
            return Vec::new();
        }
        let kept = slim.description.of(&spec.description);
        let trim = (kept.len() < spec.description.len()).then(|| slim::shortened(&spec.description, &kept));
        let trim = trim.map(|what| Trim { pointer: String::new(), lever: TrimKind::Description, what });
        let slimmed = self.slimmed().into_iter().flat_map(|slimmed| slimmed.trims.iter().cloned());
        trim.into_iter().chain(slimmed).collect()
    }

    /// Renders the form, without a report of its trims.
    fn render(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        let Form { spec, slim, .. } = self;
        let (shape, defs) = self.parts();
        let Rendered { schema, mut losses } = render_input(shape, defs, dialect)?;
        let kept = slim.description.of(&spec.description);
        let note = deprecation(spec, &kept);
        let limit = dialect.tool_description_length.unwrap_or(usize::MAX);
        let description = match cut_at_sentence(&kept, limit.saturating_sub(note.chars().count())) {
            Cow::Owned(cut) => {
                let reason = "the dialect does not accept a description of this length";
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
    let replacement = match &spec.deprecated {
        Some(replacement) if replacement.trim().is_empty() && prose::states_deprecated(description) => {
            return String::new();
        }
        Some(replacement) => cut_at_sentence(replacement.trim(), MAX_REPLACEMENT_SHOWN),
        None => return String::new(),
    };
    let space = sentence_separator(description);
    if replacement.is_empty() {
        format!("{space}Deprecated: do not use it if another tool does the same.")
    } else {
        format!("{space}Deprecated: {replacement}")
    }
}

/// Returns why a dialect cannot represent a tool that is `exact`.
fn exact_refusals(losses: &[Loss], dialect: &Dialect) -> Vec<Refusal> {
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
