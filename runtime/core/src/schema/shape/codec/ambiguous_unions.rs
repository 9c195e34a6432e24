//! Unions whose variants cannot be distinguished in their written form.

use super::{Codec, Form, MemberKind};
use crate::schema::shape::{Field, Kind, Literal, ObjectRules, Shape, UnionRules};

/// Maximum nesting of shapes that are compared.
const MAX_DEPTH: usize = 5;
/// Maximum number of comparisons per union: nested unions multiply them. Variants that are not compared count as
/// distinguishable.
const MAX_COMPARISONS: usize = 1_000;

impl Codec<'_> {
    /// Whether one written value could represent different values of two variants.
    pub(super) fn is_ambiguous(&self, union: &UnionRules) -> bool {
        self.remaining_comparisons.set(MAX_COMPARISONS);
        self.variants_clash(union, 0)
    }

    fn variants_clash(&self, union: &UnionRules, depth: usize) -> bool {
        let variants = &union.variants;
        let others = |index: usize| variants.iter().skip(index + 1);
        (0..variants.len())
            .any(|index| others(index).any(|other| self.clash(&variants[index], other, depth + 1)))
    }

    fn clash(&self, a: &Shape, b: &Shape, depth: usize) -> bool {
        let Some(remaining) = self.remaining_comparisons.get().checked_sub(1).filter(|_| depth <= MAX_DEPTH)
        else {
            return false;
        };
        self.remaining_comparisons.set(remaining);
        match (&a.kind, &b.kind) {
            (Kind::Ref(name), _) => return self.clash(self.target(name), b, depth + 1),
            (_, Kind::Ref(name)) => return self.clash(a, self.target(name), depth + 1),
            (Kind::Union(union), _) if self.is_unambiguous(union, depth) => {
                return union.variants.iter().any(|variant| self.clash(variant, b, depth + 1));
            }
            (_, Kind::Union(union)) if self.is_unambiguous(union, depth) => {
                return union.variants.iter().any(|variant| self.clash(a, variant, depth + 1));
            }
            _ => {}
        }
        match (self.form_of(a), self.form_of(b)) {
            (Form::Substitute(a, _), _) => self.clash(&a, b, depth + 1),
            (_, Form::Substitute(b, _)) => self.clash(a, &b, depth + 1),
            (Form::Text, Form::Plain) => allows_strings(b),
            (Form::Plain, Form::Text) => allows_strings(a),
            (Form::Pairs(a), Form::Pairs(b)) => self.clash(&a, &b, depth + 1),
            (Form::Pairs(_), Form::Plain) => matches!(b.kind, Kind::Array(_) | Kind::Tuple(_)),
            (Form::Plain, Form::Pairs(_)) => matches!(a.kind, Kind::Array(_) | Kind::Tuple(_)),
            (Form::Positions(a), Form::Positions(b)) => {
                a.iter().zip(&b).any(|(a, b)| self.clash(&a.shape, &b.shape, depth + 1))
            }
            (Form::Positions(positions), Form::Plain) => self.resembles_positions(b, &positions),
            (Form::Plain, Form::Positions(positions)) => self.resembles_positions(a, &positions),
            (Form::Plain, Form::Plain) => self.plain_forms_clash(a, b, depth),
            _ => false,
        }
    }

    /// Whether a union is written as one of its variants.
    fn is_unambiguous(&self, union: &UnionRules, depth: usize) -> bool {
        depth < MAX_DEPTH && !self.variants_clash(union, depth)
    }

    /// Returns the form of a shape. A union that is not decided yet is JSON text.
    fn form_of(&self, shape: &Shape) -> Form {
        match &shape.kind {
            Kind::Union(_) => Form::Text,
            _ => self.form(shape, &[]),
        }
    }

    /// Whether an object could be confused with a tuple that is written as an object. A tuple with any items has the
    /// first position. A tuple that may be empty is written as `{}` if fields may be absent.
    fn resembles_positions(&self, shape: &Shape, positions: &[Field]) -> bool {
        let Kind::Object(rules) = &shape.kind else { return false };
        let none_required = |fields: &[Field]| fields.iter().all(|field| !field.required);
        has_key(rules, &positions[0].name)
            || (self.dialect.optional_fields && none_required(positions) && none_required(&rules.fields))
    }

    fn plain_forms_clash(&self, a: &Shape, b: &Shape, depth: usize) -> bool {
        match (&a.kind, &b.kind) {
            (Kind::Array(a), Kind::Array(b)) => self.clash(&a.items, &b.items, depth + 1),
            (Kind::Object(a), Kind::Object(b)) => self.objects_clash(a, b, depth),
            _ => false,
        }
    }

    fn objects_clash(&self, a: &ObjectRules, b: &ObjectRules, depth: usize) -> bool {
        let (members, other_members) = (self.members(a), self.members(b));
        let pairs = || {
            members.iter().filter_map(|member| {
                Some((member, other_members.iter().find(|other| other.key == member.key)?))
            })
        };
        let mut clash = false;
        for (member, other) in pairs() {
            let (a, b) = match (&member.kind, &other.kind) {
                (MemberKind::Field(a), MemberKind::Field(b)) => (a, b),
                (MemberKind::Others(a), MemberKind::Others(b)) => {
                    clash |= self.clash(a, b, depth + 1);
                    continue;
                }
                _ => {
                    clash = true;
                    continue;
                }
            };
            if member.required && other.required && are_disjoint_enums(&a.shape, &b.shape) {
                return false;
            }
            // One object omits the field where the other has `null`.
            let differs_in_presence = !self.dialect.optional_fields && member.required != other.required;
            clash |= differs_in_presence && (a.shape.nullable || b.shape.nullable);
            clash |= self.clash(&a.shape, &b.shape, depth + 1);
        }
        clash
    }
}

fn allows_strings(shape: &Shape) -> bool {
    match &shape.kind {
        Kind::String(_) => true,
        Kind::Enum(values) => values.iter().any(|value| matches!(value, Literal::String(_))),
        _ => false,
    }
}

fn has_key(rules: &ObjectRules, key: &str) -> bool {
    rules.fields.is_empty() || rules.fields.iter().any(|field| field.name == *key)
}

/// Whether two lists of values are disjoint.
fn are_disjoint_enums(a: &Shape, b: &Shape) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Enum(a), Kind::Enum(b)) => !a.iter().any(|value| b.iter().any(|other| value.equals(other))),
        _ => false,
    }
}
