//! How much of the limits on all strict tools of a request a strict tool needs.

use serde_json::Value;
use toolgen_kernel::schema::dialect::RequestLimits;

/// What strict tools need: counts of the fields that are reached without following a `$ref`, as providers were observed
/// to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    tools: usize,
    fields: usize,
    optional: usize,
    unions: usize,
}

/// A limit that does not hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Over {
    pub(super) of: &'static str,
    pub(super) max: usize,
    pub(super) needs: usize,
    pub(super) remaining: usize,
}

impl Needs {
    /// Counts what a tool with this schema needs.
    pub(super) fn of(schema: &Value) -> Needs {
        let mut needs = Needs { tools: 1, ..Needs::default() };
        needs.count(schema);
        needs
    }

    /// Returns what a tool with this many optional arguments needs, whatever its schema.
    pub(super) fn of_at_least(optional: usize) -> Needs {
        Needs { tools: 1, optional, ..Needs::default() }
    }

    /// Counts what is in a schema, and returns whether it has several types itself.
    fn count(&mut self, schema: &Value) -> bool {
        let (mut fields, mut required, mut is_union) = (None, None, false);
        // A schema has few keywords: one pass over them is faster than a search for each.
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => fields = Some(properties),
                ("required", Value::Array(names)) => required = Some(names),
                ("type", of) => is_union |= of.is_array(),
                ("items", items) => {
                    self.count(items);
                }
                ("anyOf", variants) => {
                    is_union = true;
                    variants.as_array().into_iter().flatten().for_each(|variant| {
                        self.count(variant);
                    });
                }
                _ => {}
            }
        }
        for (name, field) in fields.into_iter().flatten() {
            self.fields += 1;
            self.optional += usize::from(!required.is_some_and(|names| names.iter().any(|it| it == name)));
            self.unions += usize::from(self.count(field));
        }
        is_union
    }

    /// Each limit with its name, its value, and how much of it is needed.
    fn limited(self, limits: &RequestLimits) -> impl Iterator<Item = (&'static str, usize, usize)> {
        let RequestLimits { tools: _, strict_tools, fields, optional_fields, union_fields, .. } = *limits;
        [
            ("strict tools", strict_tools, self.tools),
            ("fields", fields, self.fields),
            ("optional fields", optional_fields, self.optional),
            ("fields of several types", union_fields, self.unions),
        ]
        .into_iter()
        .filter_map(|(of, max, needs)| Some((of, max?, needs)))
    }

    /// The share of the limits that is needed, in millionths of one limit.
    pub(super) fn cost(self, limits: &RequestLimits) -> u64 {
        let share = |(_, limit, needs): (_, usize, usize)| needs as u64 * 1_000_000 / limit.max(1) as u64;
        self.limited(limits).map(share).sum()
    }

    /// Returns the first limit that would not hold with one more tool.
    pub(super) fn over(self, one: Needs, limits: &RequestLimits) -> Option<Over> {
        if let Some(limit) = limits.optional_fields_of_tool.filter(|&limit| one.optional > limit) {
            return Some(Over { of: OF_TOOL, max: limit, needs: one.optional, remaining: limit });
        }
        let left = self.limited(limits).map(|(_, limit, taken)| limit.saturating_sub(taken));
        let over = one.limited(limits).zip(left).find(|((_, _, needs), left)| needs > left);
        over.map(|((of, limit, needs), left)| Over { of, max: limit, needs, remaining: left })
    }

    /// Adds what one more tool needs.
    pub(super) fn add(&mut self, one: Needs) {
        self.tools += one.tools;
        self.fields += one.fields;
        self.optional += one.optional;
        self.unions += one.unions;
    }
}

/// The name of the limit on a single tool: with more optional fields, its grammar is too large for the provider.
const OF_TOOL: &str = "optional fields in one tool";
