//! A decision procedure for conditions: whether some call satisfies all of several conditions.
//!
//! Conditions are formulas over atoms: a term is in a set of values, or an opaque statement holds. Formulas become a
//! disjunction of clauses, and a clause is contradictory if it contains an opaque statement and its opposite, or if
//! the sets of a term have no common value. The answer “no” is proven, any other answer is “perhaps”: schemas allow
//! fewer values than domains, and opaque statements are not independent.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::types::{Bound, Domain, EXACT};
use crate::value::{Const, Val};

/// Maximum number of clauses. With more, the answer is “perhaps”.
const MAX_CLAUSES: usize = 512;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Formula {
    Const(bool),
    /// A term is in a set.
    In(Arc<Term>, Set),
    /// A statement that is not examined further.
    Opaque(Arc<str>),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

/// A value that several atoms are about.
#[derive(Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) domain: Domain,
}

/// A set of values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Set {
    /// The numbers above a bound.
    Above(Bound),
    /// The numbers below a bound.
    Below(Bound),
    /// These values.
    OneOf(Vec<Const>),
}

/// What a clause says about a term.
#[derive(Clone, Debug)]
struct Known {
    term: Arc<Term>,
    least: Option<Bound>,
    most: Option<Bound>,
    /// Whether it is a number because a bound applies.
    is_number: bool,
    one_of: Option<Vec<Const>>,
    none_of: Vec<Const>,
}

#[derive(Clone, Debug, Default)]
struct Clause {
    opaque: BTreeMap<Arc<str>, bool>,
    terms: BTreeMap<String, Known>,
}

/// Returns whether it is proven that no call satisfies all of these conditions, each with its required value.
pub(crate) fn never<'f>(conditions: impl IntoIterator<Item = (&'f Formula, bool)>) -> bool {
    let mut clauses = vec![Clause::default()];
    for (formula, value) in conditions {
        match extend(clauses, formula, value) {
            Some(extended) => clauses = extended,
            None => return false,
        }
    }
    clauses.is_empty()
}

/// Adds a condition to each clause; contradictory clauses are left out. `None` if there are too many.
fn extend(clauses: Vec<Clause>, formula: &Formula, value: bool) -> Option<Vec<Clause>> {
    let extended = match (formula, value) {
        (Formula::Const(constant), value) => {
            if *constant == value {
                clauses
            } else {
                Vec::new()
            }
        }
        (Formula::Not(inner), value) => return extend(clauses, inner, !value),
        (Formula::And(parts), true) | (Formula::Or(parts), false) => {
            let mut clauses = clauses;
            for part in parts {
                clauses = extend(clauses, part, value)?;
            }
            clauses
        }
        (Formula::Or(parts), true) | (Formula::And(parts), false) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(extend(clauses.clone(), part, value)?);
                if all.len() > MAX_CLAUSES {
                    return None;
                }
            }
            all
        }
        (Formula::Opaque(text), value) => {
            clauses.into_iter().filter_map(|clause| clause.with_opaque(text, value)).collect()
        }
        (Formula::In(term, set), value) => {
            clauses.into_iter().filter_map(|clause| clause.with_term(term, set, value)).collect()
        }
    };
    (extended.len() <= MAX_CLAUSES).then_some(extended)
}

impl Clause {
    fn with_opaque(mut self, text: &Arc<str>, value: bool) -> Option<Clause> {
        let known = *self.opaque.entry(Arc::clone(text)).or_insert(value);
        (known == value).then_some(self)
    }

    fn with_term(mut self, term: &Arc<Term>, set: &Set, value: bool) -> Option<Clause> {
        let known = self.terms.entry(term.text.clone()).or_insert_with(|| Known::new(term));
        known.add(set, value);
        let is_possible = known.is_possible();
        is_possible.then_some(self)
    }
}

impl Known {
    fn new(term: &Arc<Term>) -> Known {
        let Domain { values, least, most, .. } = &term.domain;
        Known {
            term: Arc::clone(term),
            least: *least,
            most: *most,
            is_number: false,
            one_of: values.clone(),
            none_of: Vec::new(),
        }
    }

    fn add(&mut self, set: &Set, value: bool) {
        match (set, value) {
            (Set::OneOf(values), true) => match &mut self.one_of {
                None => self.one_of = Some(values.clone()),
                Some(known) => known.retain(|known| values.iter().any(|value| is_same(known, value))),
            },
            (Set::OneOf(values), false) => self.none_of.extend(values.iter().cloned()),
            (Set::Above(bound), true) => self.raise(*bound),
            (Set::Below(bound), true) => self.lower(*bound),
            // The comparison has a value, so both sides are numbers.
            (Set::Above(bound), false) => self.lower(bound.opposite()),
            (Set::Below(bound), false) => self.raise(bound.opposite()),
        }
    }

    fn raise(&mut self, bound: Bound) {
        self.is_number = true;
        let is_weaker =
            self.least.is_none_or(|known| known.at < bound.at || (known.at == bound.at && bound.is_excluded));
        if is_weaker {
            self.least = Some(bound);
        }
    }

    fn lower(&mut self, bound: Bound) {
        self.is_number = true;
        let is_weaker =
            self.most.is_none_or(|known| known.at > bound.at || (known.at == bound.at && bound.is_excluded));
        if is_weaker {
            self.most = Some(bound);
        }
    }

    /// Returns whether the term can have a value. “No” is certain.
    fn is_possible(&self) -> bool {
        if let Some(values) = &self.one_of {
            return values.iter().any(|value| self.allows(value));
        }
        let (Some(least), Some(most)) = (self.interval().0, self.interval().1) else { return true };
        // Bounds of the domain alone say nothing about a value that may be `null` or something else.
        if !self.is_number {
            return true;
        }
        if least.at > most.at || (least.at == most.at && (least.is_excluded || most.is_excluded)) {
            return false;
        }
        if least.at == most.at {
            return self.allows(&Const::Double(least.at));
        }
        if !self.term.domain.is_integer || most.at - least.at > 64.0 {
            return true;
        }
        let mut at = least.at;
        while at <= most.at {
            if self.allows(&Const::Double(at)) {
                return true;
            }
            at += 1.0;
        }
        false
    }

    /// Returns the bounds; of integers, as bounds that are included.
    fn interval(&self) -> (Option<Bound>, Option<Bound>) {
        if !self.term.domain.is_integer {
            return (self.least, self.most);
        }
        let least = self.least.map(|bound| {
            let at = if bound.is_excluded { bound.at.floor() + 1.0 } else { bound.at.ceil() };
            Bound { at, is_excluded: false }
        });
        let most = self.most.map(|bound| {
            let at = if bound.is_excluded { bound.at.ceil() - 1.0 } else { bound.at.floor() };
            Bound { at, is_excluded: false }
        });
        (least, most)
    }

    /// Returns whether a value satisfies everything but the list of values.
    fn allows(&self, value: &Const) -> bool {
        if self.none_of.iter().any(|other| is_same(other, value)) {
            return false;
        }
        let number = match value {
            #[expect(clippy::cast_precision_loss, reason = "integers that are not exact are not in sets")]
            Const::Int(value) => *value as f64,
            Const::Double(value) => *value,
            // A domain has no bounds for `null` and strings, but no comparison holds for them.
            _ => return !self.is_number,
        };
        if self.term.domain.is_integer && number.fract() != 0.0 {
            return false;
        }
        let is_above = |bound: Bound| number > bound.at || (number == bound.at && !bound.is_excluded);
        let is_below = |bound: Bound| number < bound.at || (number == bound.at && !bound.is_excluded);
        self.least.is_none_or(is_above) && self.most.is_none_or(is_below)
    }
}

impl Bound {
    fn opposite(self) -> Bound {
        Bound { is_excluded: !self.is_excluded, ..self }
    }
}

fn is_same(left: &Const, right: &Const) -> bool {
    left.value().equals(&right.value())
}

/// Returns the number of a constant, if a float represents it exactly.
pub(crate) fn exact(value: &Const) -> Option<f64> {
    let number = match value.value() {
        #[expect(clippy::cast_precision_loss, reason = "checked below")]
        Val::Int(value) => value as f64,
        Val::Double(value) => value,
        _ => return None,
    };
    (number.abs() < EXACT).then_some(number)
}

/// Returns whether a constant can be in a set.
pub(crate) fn is_scalar(value: &Const) -> bool {
    match value {
        Const::Null | Const::Bool(_) | Const::Text(_) => true,
        Const::Int(_) | Const::Double(_) => exact(value).is_some(),
        Const::List(_) => false,
    }
}

impl Formula {
    pub(crate) fn not(self) -> Formula {
        match self {
            Formula::Const(value) => Formula::Const(!value),
            Formula::Not(inner) => *inner,
            other => Formula::Not(Box::new(other)),
        }
    }
}
