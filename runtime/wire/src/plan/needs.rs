//! How much a strict tool uses of the limits on all strict tools of a request.

use serde_json::Value;
use toolgen_kernel::schema::dialect::RequestLimits;

/// What strict tools use: counts of the fields that are reached without following a `$ref`. Vendors were observed to
/// count in this way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    tools: usize,
    fields: usize,
    optional: usize,
    unions: usize,
}

/// A limit that is exceeded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Over {
    pub(super) of: &'static str,
    pub(super) max: usize,
    pub(super) needs: usize,
    pub(super) remaining: usize,
}

impl Needs {
    /// Counts what a tool with this schema uses.
    pub(super) fn of(schema: &Value) -> Needs {
        let mut needs = Needs { tools: 1, ..Needs::default() };
        needs.count(schema);
        needs
    }

    /// Returns the minimum that a tool with this number of optional arguments uses, for any schema.
    pub(super) fn of_at_least(optional: usize) -> Needs {
        Needs { tools: 1, optional, ..Needs::default() }
    }

    /// Counts the fields of a schema, and returns whether the schema itself has several types.
    fn count(&mut self, schema: &Value) -> bool {
        let (mut fields, mut required, mut is_union) = (None, None, false);
        // A schema has few keywords: one pass over them is faster than a search for each keyword.
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

    /// Returns each limit with its name, its value, and how much of it is used.
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

    /// Returns the used share of the limits, in millionths of one limit.
    pub(super) fn cost(self, limits: &RequestLimits) -> u64 {
        let share = |(_, limit, needs): (_, usize, usize)| needs as u64 * 1_000_000 / limit.max(1) as u64;
        self.limited(limits).map(share).sum()
    }

    /// Returns the first limit that one more tool would exceed.
    pub(super) fn over(self, one: Needs, limits: &RequestLimits) -> Option<Over> {
        if let Some(limit) = limits.optional_fields_of_tool.filter(|&limit| one.optional > limit) {
            return Some(Over { of: OF_TOOL, max: limit, needs: one.optional, remaining: limit });
        }
        let left = self.limited(limits).map(|(_, limit, taken)| limit.saturating_sub(taken));
        let over = one.limited(limits).zip(left).find(|((_, _, needs), left)| needs > left);
        over.map(|((of, limit, needs), left)| Over { of, max: limit, needs, remaining: left })
    }

    /// Adds what one more tool uses.
    pub(super) fn add(&mut self, one: Needs) {
        self.tools += one.tools;
        self.fields += one.fields;
        self.optional += one.optional;
        self.unions += one.unions;
    }
}

/// The name of the limit on a single tool: with more optional fields, its grammar is too large for the vendor.
const OF_TOOL: &str = "optional fields in one tool";
