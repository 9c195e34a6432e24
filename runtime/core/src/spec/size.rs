//! The size of a tool in a request, and the levers that bring it under a ceiling.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::{self, Write};

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
        let steps = self
            .steps
            .get_or_init(|| steps(slim).into_iter().map(|slim| Form::new(spec, Cow::Owned(slim))).collect());
        if let Some(told) = first_that(steps.len(), |step| fits(&steps[step])) {
            return Ok(told);
        }
        let last = steps.last().map_or(slim, |form| &form.slim);
        let names = optional(spec, slim);
        // The fewer arguments, the smaller: the last ones go first.
        let keeping = |gone: usize| {
            let optional = Some(names[..names.len() - gone].to_vec().into());
            Form::new(spec, Cow::Owned(Slim { optional, ..last.as_ref().clone() }))
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
    /// The smaller shape, if the levers change it; made on first use.
    slimmed: OnceCell<Option<Slimmed>>,
}

impl<'a> Form<'a> {
    fn new(spec: &'a ToolSpec, slim: Cow<'a, Slim>) -> Form<'a> {
        Form { spec, slim, slimmed: OnceCell::new() }
    }

    fn render(&self, dialect: &Dialect) -> Result<ToolSchema<'a>, Vec<Refusal>> {
        let Form { spec, slim, slimmed } = self;
        let slimmed = slimmed.get_or_init(|| {
            (!slim.is_idle()).then(|| slim::slim(&spec.input, &spec.defs, spec.name.as_str(), slim))
        });
        let (shape, defs, mut trims) = match slimmed {
            Some(slimmed) => (&slimmed.shape, &slimmed.defs, slimmed.trims.clone()),
            None => (&*spec.input, &spec.defs, Vec::new()),
        };
        let Rendered { schema, mut losses } = render_input(shape, defs, dialect)?;
        let kept = slim.description.of(&spec.description);
        if kept.len() < spec.description.len() {
            let what = slim::shortened(spec.description.chars().count(), kept.chars().count());
            trims.insert(0, Trim { pointer: String::new(), lever: Lever::Description, what });
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

/// Returns levers of growing effect, each with those before it.
fn steps(slim: &Slim) -> Vec<Slim> {
    let mut steps: Vec<Slim> = Vec::new();
    let mut slim = slim.clone();
    let mut step = |change: &dyn Fn(&mut Slim)| {
        change(&mut slim);
        steps.push(slim.clone());
    };
    step(&|slim| {
        slim.drop_examples = true;
        slim.drop_restating = true;
    });
    step(&|slim| slim.nested = less(slim.nested, Words::Sentence(200)));
    step(&|slim| {
        slim.parameters = less(slim.parameters, Words::Characters(400));
        slim.description = less(slim.description, Words::Characters(2_000));
    });
    step(&|slim| slim.nested = less(slim.nested, Words::Sentence(80)));
    step(&|slim| (slim.inline, slim.share) = (true, true));
    for depth in [8, 6, 5, 4, 3, 2] {
        step(&|slim| slim.depth = Some(slim.depth.map_or(depth, |own| own.min(depth))));
    }
    step(&|slim| slim.values = Some(slim.values.map_or(40, |own| own.min(40))));
    step(&|slim| {
        slim.parameters = less(slim.parameters, Words::Sentence(120));
        slim.nested = Words::None;
        slim.depth = Some(1);
    });
    step(&|slim| {
        slim.description = less(slim.description, Words::Characters(600));
        slim.parameters = less(slim.parameters, Words::Sentence(40));
        slim.drop_closed = true;
        slim.values = Some(slim.values.map_or(10, |own| own.min(10)));
    });
    steps
}

/// Returns the words that leave less, as far as that is known without the text.
fn less(own: Words, other: Words) -> Words {
    match (own, other) {
        (Words::None, _) => Words::None,
        (Words::Characters(own), Words::Characters(limit)) => Words::Characters(own.min(limit)),
        (
            Words::Sentence(own) | Words::Characters(own),
            Words::Sentence(limit) | Words::Characters(limit),
        ) => Words::Sentence(own.min(limit)),
        (_, other) => other,
    }
}

/// Returns the names of the optional arguments that are shown.
fn optional(spec: &ToolSpec, slim: &Slim) -> Vec<Text> {
    let Some(Kind::Object(rules)) = resolved(&spec.input, &spec.defs).map(|shape| &shape.kind) else {
        return Vec::new();
    };
    let shown = rules.fields.iter().filter(|field| !field.required && field.access != Access::ReadOnly);
    let kept = |name: &Text| slim.optional.as_ref().is_none_or(|names: &List<Text>| names.contains(name));
    shown.map(|field| field.name.clone()).filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::dialect::{ANTHROPIC, GEMINI, JSON_SCHEMA, OPENAI};
    use crate::schema::shape::read::read;
    use crate::schema::shape::slim::CEILING;

    fn spec(input: &Value) -> ToolSpec {
        ToolSpec { input: read(input, &mut Vec::new()).into(), ..ToolSpec::EMPTY }
    }

    /// An object with many fields, each with a long text.
    fn large(fields: usize, of: &Value) -> Value {
        let field = |number: usize| {
            let mut field = of.clone();
            field["description"] = format!("Field {number}. {}", "It is of use to many. ".repeat(10)).into();
            (format!("field_{number}"), field)
        };
        let properties: serde_json::Map<String, Value> = (0..fields).map(field).collect();
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn a_large_tool_is_trimmed_until_it_fits_and_a_small_one_not_at_all() {
        let deep = large(60, &large(20, &json!({"type": "integer"})));
        let spec = spec(&deep);
        for dialect in [&JSON_SCHEMA, &OPENAI, &ANTHROPIC, &GEMINI] {
            let whole = spec.schema_with(dialect, &Slim::NONE).unwrap();
            assert!(whole.bytes() > 10 * CEILING && whole.trims.is_empty());
            let told = spec.schema(dialect).unwrap();
            assert!(told.bytes() <= CEILING, "{}: {}", dialect.name, told.bytes());
            assert_eq!(told.schema["properties"].as_object().unwrap().len(), 60, "every argument is there");
            assert!(told.trims.iter().any(|trim| trim.lever == Lever::Depth));
            assert_eq!(told, spec.schema(dialect).unwrap());
        }
        let small = self::spec(&large(3, &json!({"type": "integer"})));
        assert_eq!(small.schema(&OPENAI), small.schema_with(&OPENAI, &Slim::NONE));
    }

    #[test]
    fn optional_arguments_go_last_and_the_last_of_them_first() {
        let mut schema = large(2_000, &json!({"type": "integer"}));
        schema["required"] = json!(["field_1999"]);
        let spec = spec(&schema);
        let told = spec.schema(&OPENAI).unwrap();
        let names: Vec<&String> = told.schema["properties"].as_object().unwrap().keys().collect();
        assert!(told.bytes() <= CEILING && names.len() > 200, "{}", names.len());
        assert_eq!((names[0].as_str(), names[names.len() - 1].as_str()), ("field_0", "field_1999"));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let mut schema = large(2_000, &json!({"type": "integer"}));
        schema["required"] = (0..2_000).map(|number| format!("field_{number}")).collect::<Vec<_>>().into();
        let spec = spec(&schema);
        let told = spec.schema(&OPENAI).unwrap();
        assert_eq!(told.trims.last().map(|trim| trim.lever), Some(Lever::Ceiling));
        assert_eq!(told.schema["required"].as_array().unwrap().len(), 2_000);
    }
}
