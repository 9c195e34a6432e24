//! The levers that bring a tool under a ceiling: pulled until it fits, and released while there is room.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::iter::successors;

use super::{Form, ToolSchema};
use crate::base::frozen::{List, Text};
use crate::schema::shape::slim::{self, Bytes, Opened, Places, Sheet, Sized, Slim, Slimmed, Words};
use crate::spec::ToolSpec;

/// Lengths of texts: those inside arguments, those of arguments, that of the tool. No length grows from one row to
/// the next.
const TEXTS: &[(usize, usize, usize)] = &[
    (12_000, usize::MAX, usize::MAX),
    (6_000, usize::MAX, usize::MAX),
    (3_000, usize::MAX, usize::MAX),
    (1_500, usize::MAX, usize::MAX),
    (800, usize::MAX, usize::MAX),
    (400, usize::MAX, usize::MAX),
    (300, usize::MAX, usize::MAX),
    (200, 12_000, 12_000),
    (200, 6_000, 12_000),
    (200, 2_000, 8_000),
    (160, 1_000, 6_000),
    (120, 600, 4_000),
    (100, 400, 3_000),
    (80, 300, 2_000),
    (60, 200, 1_500),
    (40, 160, 1_000),
    (20, 120, 800),
    (0, 80, 600),
];

/// How much of the room is to be used, in percent: above that, no richer form is sought.
const USED: usize = 94;
/// How much of the room a form uses at least for which the sizes were right, in percent.
const CLOSE: usize = 86;
/// How often sizes are corrected by a form that was made.
const CORRECTIONS: usize = 3;

/// Levers, and how many of the places inside arguments are spelled out.
#[derive(Clone, Debug, PartialEq)]
struct Rung {
    slim: Slim,
    count: usize,
}

/// What the smaller forms of a tool are made of.
#[derive(Debug)]
pub(super) struct Source<'a> {
    spec: &'a ToolSpec,
    /// The arguments that the levers are pulled on. Levers that lose nothing are applied once: they take longer than
    /// all the rest.
    arranged: Slimmed,
    places: Places,
    /// The sizes of the places, and that of the description.
    sheet: Sheet,
    description: Sized,
}

impl<'a> Source<'a> {
    pub(super) fn of(spec: &'a ToolSpec) -> Source<'a> {
        let arranged = Slim { inline: true, share: true, ..Slim::NONE };
        let arranged = slim::slim(&spec.input, &spec.defs, spec.name.as_str(), &arranged);
        let places = Places::of(&arranged.shape, &arranged.defs);
        let sheet = Sheet::of(&arranged.shape, &arranged.defs, &places);
        Source { spec, arranged, places, sheet, description: Sized::new(&spec.description) }
    }
}

/// The smaller forms of a tool under some levers.
#[derive(Debug)]
pub(super) struct Ladder<'s, 'a> {
    source: &'s Source<'a>,
    /// The levers of the tool itself.
    own: &'s Slim,
    /// Whether what is trimmed is told.
    tells: bool,
    /// Levers of growing effect, each with the previous ones.
    rungs: Vec<Rung>,
}

/// Whether there is room for the form under some levers, and whether it uses enough of the room.
type Fits<'f> = dyn Fn(&Rung) -> Option<bool> + 'f;
/// Renders a form, unless the dialect refuses it.
type Render<'f, 'a> = dyn Fn(&Form<'a>) -> Option<ToolSchema<'a>> + 'f;

/// How sizes in plain JSON Schema become those in a dialect: a numerator and a denominator.
#[derive(Clone, Copy)]
struct Scale(usize, usize);

impl<'s, 'a> Ladder<'s, 'a> {
    pub(super) fn new(source: &'s Source<'a>, own: &'s Slim, tells: bool) -> Ladder<'s, 'a> {
        Ladder { source, own, tells, rungs: rungs(own, &source.places) }
    }

    /// Renders the richest form for which there is room, if there is one. It is sought among the sizes of the places,
    /// and made to see whether they were right for this dialect.
    ///
    /// A form that the dialect refuses does not fit, as the next one is simpler; which ones it refuses is known only
    /// of those that are made.
    pub(super) fn fitting(
        &self,
        optional: &[Text],
        render: &Render<'_, 'a>,
        inline: bool,
        room: usize,
    ) -> Option<ToolSchema<'a>> {
        let mut best: Option<(Rung, ToolSchema<'a>)> = None;
        let mut scale = Scale(1, 1);
        for _ in 0..CORRECTIONS {
            let size = |rung: &Rung| self.size(rung, inline, scale);
            let Some(rung) = self.search(optional, &|rung| within(size(rung), room)) else { break };
            let Some(told) = self.told(&rung, render) else { break };
            let bytes = told.bytes();
            let Source { sheet, description, .. } = self.source;
            let known = sheet.bytes(&rung.slim, rung.count, inline);
            let others = bytes.saturating_sub(known.texts + description.kept(rung.slim.description));
            scale = Scale(others.max(1), known.others.max(1));
            let is_close = bytes.saturating_mul(100) >= room.saturating_mul(CLOSE);
            let is_richest = self.rungs.first() == Some(&rung);
            if bytes <= room && best.as_ref().is_none_or(|(_, best)| best.bytes() < bytes) {
                best = Some((rung, told));
                if is_close || is_richest {
                    break;
                }
            }
        }
        best.map(|(_, told)| told).or_else(|| {
            let made = |rung: &Rung| within(self.told(rung, render)?.bytes(), room);
            let rung = self.search(optional, &made)?;
            self.told(&rung, render)
        })
    }

    /// Renders the form of a rung, with what is trimmed.
    fn told(&self, rung: &Rung, render: &Render<'_, 'a>) -> Option<ToolSchema<'a>> {
        let form = self.form(rung);
        Some(ToolSchema { trims: form.trims(), ..render(&form)? })
    }

    /// Returns the bytes of the form under some levers, about.
    fn size(&self, rung: &Rung, inline: bool, Scale(to, from): Scale) -> usize {
        let Source { sheet, description, .. } = self.source;
        let Bytes { texts, others } = sheet.bytes(&rung.slim, rung.count, inline);
        texts + others.saturating_mul(to) / from + description.kept(rung.slim.description)
    }

    /// Returns the levers of the richest form that fits, if one does.
    fn search(&self, optional: &[Text], fits: &Fits<'_>) -> Option<Rung> {
        let known = |at: usize| self.rungs.get(at).and_then(fits).map(|enough| (at, enough));
        let found = match first_that(self.rungs.len(), known) {
            Some((at, enough)) => self.finer(at, enough, fits)?,
            None => self.fewer(optional, fits)?,
        };
        Some(self.refilled(found, fits))
    }

    /// Returns the smallest form.
    pub(super) fn smallest(&self) -> Form<'a> {
        let (slim, count) = self.rungs.last().map_or((self.own, 0), |rung| (&rung.slim, rung.count));
        self.form(&Rung { slim: Slim { optional: Some(List::EMPTY), ..slim.clone() }, count })
    }

    /// Returns the form of a rung.
    fn form(&self, rung: &Rung) -> Form<'a> {
        let Source { spec, arranged, places, .. } = self.source;
        let opened = Opened { places, count: rung.count };
        let tool = spec.name.as_str();
        let tells = self.tells;
        let mut slimmed =
            slim::slim_to(&arranged.shape, &arranged.defs, tool, &rung.slim, Some(opened), tells);
        if tells {
            slimmed.trims.splice(..0, arranged.trims.iter().cloned());
        }
        let slimmed = OnceCell::from(Some(slimmed));
        Form { spec, slim: Cow::Owned(rung.slim.clone()), tells, slimmed }
    }

    /// Spells out as many places as there is room for, if that is what the previous rung has more of.
    fn finer(&self, at: usize, enough: bool, fits: &Fits<'_>) -> Option<(Rung, bool)> {
        let rung = self.rungs.get(at)?;
        let before = at.checked_sub(1).and_then(|before| self.rungs.get(before));
        let most = before.map_or(rung.count, |before| before.count);
        let more = |less: usize| Rung { count: most - 1 - less, ..rung.clone() };
        let between = most.saturating_sub(rung.count + 1);
        Some(best(between, (rung.clone(), enough), |less| {
            let rung = more(less);
            fits(&rung).map(|enough| (rung, enough))
        }))
    }

    /// Leaves out as few optional arguments as possible, the last ones first: the fewer, the smaller the tool.
    fn fewer(&self, names: &[Text], fits: &Fits<'_>) -> Option<(Rung, bool)> {
        let last = self.rungs.last()?;
        first_that(names.len() + 1, |gone| {
            let optional = names.get(..names.len() - gone)?.to_vec();
            let slim = Slim { optional: Some(optional.into()), ..last.slim.clone() };
            let rung = Rung { slim, count: last.count };
            fits(&rung).map(|enough| (rung, enough))
        })
    }

    /// Releases levers while there is room: first those on what a call needs, and on outer parts.
    fn refilled(&self, mut found: (Rung, bool), fits: &Fits<'_>) -> Rung {
        let count = found.0.count;
        for richer in [values, outer_texts, inner_texts, closed, examples] {
            let (rung, enough) = &found;
            if *enough {
                break;
            }
            let mut richer = richer(self.own, &rung.slim);
            richer.dedup();
            richer.retain(|slim| *slim != rung.slim);
            found = best(richer.len(), found, |at| {
                let rung = Rung { slim: richer.get(at)?.clone(), count };
                fits(&rung).map(|enough| (rung, enough))
            });
        }
        found.0
    }
}

/// Whether so many bytes use enough of the room; `None` if they are more.
fn within(bytes: usize, room: usize) -> Option<bool> {
    (bytes <= room).then_some(bytes.saturating_mul(100) >= room.saturating_mul(USED))
}

/// Lists of allowed values, as the tool has them.
fn values(own: &Slim, slim: &Slim) -> Vec<Slim> {
    vec![Slim { values: own.values, ..slim.clone() }]
}

/// More of the texts of the tool and of its arguments; the most first.
fn outer_texts(own: &Slim, slim: &Slim) -> Vec<Slim> {
    let with = |length: usize| Slim {
        description: less(own.description, more(slim.description, length.saturating_mul(4))),
        parameters: less(own.parameters, more(slim.parameters, length)),
        ..slim.clone()
    };
    lengths().map(with).collect()
}

/// More of the texts inside arguments; the most first.
fn inner_texts(own: &Slim, slim: &Slim) -> Vec<Slim> {
    let with = |length| Slim { nested: less(own.nested, more(slim.nested, length)), ..slim.clone() };
    lengths().map(with).collect()
}

/// Lengths of texts, each a little less than the previous one.
fn lengths() -> impl Iterator<Item = usize> {
    let shorter = |length: &usize| Some(length - length.div_ceil(10)).filter(|length| *length > 0);
    [usize::MAX].into_iter().chain(successors(Some(20_000), shorter)).chain([0])
}

/// Returns what is kept of a text if there is room for this many characters, if that is more than before.
fn more(before: Words, length: usize) -> Words {
    match before {
        Words::All => Words::All,
        Words::Needed(own) => Words::Needed(own.max(length)),
        Words::Characters(own) | Words::Sentence(own) if own >= length => before,
        Words::Characters(_) | Words::Sentence(_) | Words::None => Words::Needed(length),
    }
}

/// Objects that say whether they take other keys, as the tool has them.
fn closed(own: &Slim, slim: &Slim) -> Vec<Slim> {
    vec![Slim { drop_closed: own.drop_closed, ..slim.clone() }]
}

/// Examples, as the tool has them.
fn examples(own: &Slim, slim: &Slim) -> Vec<Slim> {
    vec![Slim { drop_examples: own.drop_examples, ..slim.clone() }]
}

/// Returns levers of growing effect, each with the previous ones: levers that lose nothing come first, then texts
/// that a call can do without, then what is deep inside, and only then what the texts say about values.
fn rungs(own: &Slim, places: &Places) -> Vec<Rung> {
    let mut rungs: Vec<Rung> = Vec::new();
    // Named shapes are arranged already.
    let slim = Slim { inline: false, share: false, ..own.clone() };
    let mut rung = Rung { slim, count: places.len() };
    let mut step = |change: &dyn Fn(&mut Rung)| {
        change(&mut rung);
        if rungs.last() != Some(&rung) {
            rungs.push(rung.clone());
        }
    };
    let texts = |slim: &mut Slim, nested: Words, parameters: Words, description: Words| {
        slim.nested = less(slim.nested, nested);
        slim.parameters = less(slim.parameters, parameters);
        slim.description = less(slim.description, description);
    };
    let values = |slim: &mut Slim, most: usize| {
        slim.values = Some(slim.values.map_or(most, |own| own.min(most)));
    };
    step(&|_| ());
    step(&|rung| (rung.slim.drop_examples, rung.slim.drop_restating) = (true, true));
    for &(nested, parameters, description) in TEXTS {
        let [nested, parameters, description] = [nested, parameters, description].map(Words::Needed);
        step(&|rung| texts(&mut rung.slim, nested, parameters, description));
    }
    step(&|rung| rung.slim.drop_closed = true);
    step(&|rung| rung.count = places.above(3));
    step(&|rung| values(&mut rung.slim, 40));
    step(&|rung| rung.count = places.above(2));
    step(&|rung| {
        texts(&mut rung.slim, Words::Characters(80), Words::Needed(0), Words::Characters(2_000));
    });
    step(&|rung| texts(&mut rung.slim, Words::None, Words::All, Words::All));
    step(&|rung| rung.count = places.above(1));
    step(&|rung| texts(&mut rung.slim, Words::None, Words::Sentence(120), Words::All));
    step(&|rung| {
        texts(&mut rung.slim, Words::None, Words::Sentence(40), Words::Characters(600));
        values(&mut rung.slim, 10);
    });
    rungs
}

/// Returns the first that fits, if those after it fit, too; or one that leaves little room.
fn first_that<T>(length: usize, fits: impl Fn(usize) -> Option<(T, bool)>) -> Option<(T, bool)> {
    let last = length.checked_sub(1)?;
    Some(best(last, fits(last)?, fits))
}

/// As [`first_that`], or else the one that is known.
///
/// With more room, the search takes the same path up to where it finds more, or goes on where it would have ended.
fn best<T>(length: usize, known: (T, bool), fits: impl Fn(usize) -> Option<(T, bool)>) -> (T, bool) {
    let (mut best, mut low, mut high) = (known, 0, length);
    while low < high && !best.1 {
        let middle = low + (high - low) / 2;
        match fits(middle) {
            Some(found) => (best, high) = (found, middle),
            None => low = middle + 1,
        }
    }
    best
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
