//! The rules of arrays and tuples.

use super::object::copy_extra;
use serde_json::Value;

use super::{
    Combination, Form, Keyword, Object, StatedRule, check_count, count, first_set, flag, smaller_limit,
};
use crate::base::frozen::{Frozen, List};
use crate::schema::dialect::Dialect;
use crate::schema::shape::{Extra, Shape};

/// The rules of an array whose items have the same shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayRules {
    /// The shape of each item.
    pub items: Frozen<Shape>,
    /// Minimum number of items.
    pub min_items: Option<u64>,
    /// Maximum number of items.
    pub max_items: Option<u64>,
    /// Whether items must be unique.
    pub unique: bool,
}

/// The rules of an array whose first items have their own shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct TupleRules {
    /// The shapes of the first items.
    pub items: List<Shape>,
    /// The items that may follow.
    pub rest: Extra,
    /// Minimum number of items.
    pub min_items: Option<u64>,
    /// Maximum number of items.
    pub max_items: Option<u64>,
}

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("minItems", Form::Count, Combination::Larger),
    Keyword::new("maxItems", Form::Count, Combination::Smaller),
    Keyword::new("uniqueItems", Form::Flag, Combination::Same),
];

impl ArrayRules {
    /// The rules that allow every array.
    pub const ANY: ArrayRules =
        ArrayRules { items: Frozen::Static(&Shape::ANY), min_items: None, max_items: None, unique: false };

    /// Reads the rules of a schema in normal form, for items of a shape.
    pub(crate) fn read(schema: &Object, items: Frozen<Shape>) -> ArrayRules {
        ArrayRules {
            items,
            min_items: count(schema, "minItems"),
            max_items: count(schema, "maxItems"),
            unique: flag(schema, "uniqueItems"),
        }
    }

    /// Returns the rules that are set, without the shape of the items.
    pub(crate) fn stated_rules(&self) -> Vec<StatedRule> {
        let ArrayRules { items: _, min_items, max_items, unique } = self;
        count_rules(*min_items, *max_items)
            .chain(StatedRule::flag("uniqueItems", *unique, "no duplicate items"))
            .collect()
    }

    /// Returns the problems with the number of items. Uniqueness is checked together with the items.
    pub(crate) fn count_problems(&self, count: usize) -> Vec<String> {
        let ArrayRules { items: _, min_items, max_items, unique: _ } = self;
        check_count(count, *min_items, *max_items, "item")
    }

    /// Whether the number of items is valid and only the shape of the items remains to be checked.
    pub(crate) fn only_item_checks_remain(&self, count: usize) -> bool {
        let ArrayRules { items: _, min_items: _, max_items: _, unique } = self;
        !unique && self.count_problems(count).is_empty()
    }

    /// Returns the intersection of two sets of rules, for items of a shape.
    pub(crate) fn and(&self, other: &ArrayRules, items: Frozen<Shape>) -> ArrayRules {
        ArrayRules {
            items,
            min_items: self.min_items.max(other.min_items),
            max_items: smaller_limit(self.max_items, other.max_items),
            unique: self.unique || other.unique,
        }
    }
}

/// Copies the rules in a constant, for items of a shape, with other limits if they are set.
#[must_use]
pub const fn array_with(
    base: &ArrayRules,
    items: Frozen<Shape>,
    min_items: Option<u64>,
    max_items: Option<u64>,
) -> ArrayRules {
    ArrayRules {
        items,
        min_items: first_set(min_items, base.min_items),
        max_items: first_set(max_items, base.max_items),
        unique: base.unique,
    }
}

impl TupleRules {
    /// Reads the rules of a schema in normal form, for items of these shapes.
    pub(crate) fn read(schema: &Object, items: List<Shape>, rest: Extra) -> TupleRules {
        let (min_items, max_items) = (count(schema, "minItems"), count(schema, "maxItems"));
        TupleRules { items, rest, min_items, max_items }
    }

    /// Returns the rules that are set, without the shapes of the items.
    pub(crate) fn stated_rules(&self) -> Vec<StatedRule> {
        let TupleRules { items: _, rest: _, min_items, max_items } = self;
        count_rules(*min_items, *max_items).collect()
    }

    /// Returns the problems with the number of items.
    pub(crate) fn count_problems(&self, count: usize) -> Vec<String> {
        let TupleRules { items: _, rest: _, min_items, max_items } = self;
        check_count(count, *min_items, *max_items, "item")
    }
}

/// Copies the rules in a constant.
#[must_use]
pub const fn copy_tuple(rules: &TupleRules) -> TupleRules {
    TupleRules {
        items: rules.items.borrowed(),
        rest: copy_extra(&rules.rest),
        min_items: rules.min_items,
        max_items: rules.max_items,
    }
}

fn count_rules(min_items: Option<u64>, max_items: Option<u64>) -> impl Iterator<Item = StatedRule> {
    let limits = [("minItems", min_items), ("maxItems", max_items)];
    let to_dialect: fn(&Dialect, &Value) -> Option<Value> = |dialect, limit| {
        let is_accepted =
            dialect.min_items.is_none_or(|max| limit.as_u64().is_some_and(|limit| limit <= max));
        is_accepted.then(|| limit.clone())
    };
    limits.into_iter().filter_map(move |(keyword, limit)| {
        let rule = StatedRule::count(keyword, limit, "item")?;
        Some(if keyword == "minItems" { StatedRule { to_dialect, ..rule } } else { rule })
    })
}
