//! How much a strict tool uses of the limits on all strict tools of a request.

use serde_json::Value;
use toolgen_kernel::schema::dialect::RequestLimits;

/// What counts against the limits on strict tools: the tools, and their fields that are reached without following a
/// `$ref`. Vendors were observed to count in this way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    tools: usize,
    fields: usize,
    optional: usize,
    unions: usize,
}

/// A limit that is exceeded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExceededLimit {
    pub(super) name: &'static str,
    pub(super) max: usize,
    pub(super) needs: usize,
    pub(super) remaining: usize,
}

impl Needs {
    /// Counts the fields of a tool with this schema.
    pub(super) fn of(schema: &Value) -> Needs {
        let mut needs = Needs { tools: 1, ..Needs::default() };
        needs.count(schema);
        needs
    }

    /// Returns the minimum that a tool with this number of optional arguments uses, for any schema.
    pub(super) fn minimum(optional: usize) -> Needs {
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
                ("type", types) => is_union |= types.is_array(),
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
            self.optional += usize::from(
                !required.is_some_and(|names| names.iter().any(|required_name| required_name == name)),
            );
            self.unions += usize::from(self.count(field));
        }
        is_union
    }

    /// Returns each limit with its name, its value, and the used part.
    fn usage_by_limit(self, limits: &RequestLimits) -> impl Iterator<Item = (&'static str, usize, usize)> {
        let RequestLimits { tools: _, strict_tools, fields, optional_fields, union_fields, .. } = *limits;
        [
            ("strict tools", strict_tools, self.tools),
            ("fields", fields, self.fields),
            ("optional fields", optional_fields, self.optional),
            ("fields of several types", union_fields, self.unions),
        ]
        .into_iter()
        .filter_map(|(name, max, needs)| Some((name, max?, needs)))
    }

    /// Returns the used share of the limits, in millionths of one limit.
    pub(super) fn cost(self, limits: &RequestLimits) -> u64 {
        let share = |(_, limit, needs): (_, usize, usize)| needs as u64 * 1_000_000 / limit.max(1) as u64;
        self.usage_by_limit(limits).map(share).sum()
    }

    /// Returns the first limit that one more tool would exceed.
    pub(super) fn exceeded(self, tool: Needs, limits: &RequestLimits) -> Option<ExceededLimit> {
        if let Some(limit) = limits.optional_fields_of_tool.filter(|&limit| tool.optional > limit) {
            return Some(ExceededLimit {
                name: OPTIONAL_FIELDS_OF_TOOL,
                max: limit,
                needs: tool.optional,
                remaining: limit,
            });
        }
        let remaining = self.usage_by_limit(limits).map(|(_, limit, used)| limit.saturating_sub(used));
        let exceeded =
            tool.usage_by_limit(limits).zip(remaining).find(|((_, _, needs), remaining)| needs > remaining);
        exceeded.map(|((name, limit, needs), remaining)| ExceededLimit { name, max: limit, needs, remaining })
    }

    /// Adds the counts of one more tool.
    pub(super) fn add(&mut self, tool: Needs) {
        self.tools += tool.tools;
        self.fields += tool.fields;
        self.optional += tool.optional;
        self.unions += tool.unions;
    }
}

/// The name of the limit on a single tool: with more optional fields, its grammar is too large for the vendor.
const OPTIONAL_FIELDS_OF_TOOL: &str = "optional fields in one tool";
