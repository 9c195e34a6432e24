//! Finds numbers that need a unit and have none.

use super::words::words;

/// Words in names of numbers that have a unit.
const MEASURES: &[&str] = &[
    "timeout",
    "delay",
    "duration",
    "interval",
    "ttl",
    "age",
    "latency",
    "lifetime",
    "expiry",
    "elapsed",
    "uptime",
    "distance",
    "radius",
    "altitude",
    "elevation",
    "width",
    "height",
    "thickness",
    "size",
    "filesize",
    "weight",
    "mass",
    "velocity",
    "bandwidth",
    "bitrate",
    "bytes",
    "memory",
    "storage",
];

/// Words in names of numbers that count something, or are not measured.
const COUNTS: &[&str] = &[
    "code",
    "page",
    "pages",
    "batch",
    "chunk",
    "count",
    "limit",
    "number",
    "num",
    "max",
    "id",
    "pool",
    "group",
    "window",
    "sample",
    "tree",
    "search",
    "recursion",
    "font",
    "cluster",
    "ratio",
    "factor",
    "index",
    "level",
    "list",
    "result",
    "results",
    "items",
];

/// Words that are units, in full or in part of a word such as `milliseconds`.
const UNITS: &[&str] = &[
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "year",
    "byte",
    "bit",
    "pixel",
    "meter",
    "metre",
    "mile",
    "feet",
    "foot",
    "inch",
    "yard",
    "gram",
    "pound",
    "ounce",
    "liter",
    "litre",
    "gallon",
    "percent",
    "character",
    "degree",
    "celsius",
    "fahrenheit",
    "kelvin",
    "radian",
    "hertz",
    "watt",
    "volt",
    "ampere",
    "pascal",
    "joule",
    "knot",
    "token",
    "word",
    "row",
    "column",
    "item",
    "element",
    "entries",
    "record",
    "result",
    "line",
    "point",
    "level",
    "unit",
    "epoch",
    "unix",
    "frame",
    "sample",
    "core",
    "node",
    "block",
    "step",
    "number of",
    "amount of",
    "how many",
    "iso 8601",
    "currency",
    "cent",
    "nanos",
    "millis",
    "micros",
];

/// Abbreviations of units, as separate words.
const ABBREVIATIONS: &[&str] = &[
    "s", "sec", "secs", "ms", "us", "ns", "min", "mins", "h", "hr", "hrs", "d", "b", "kb", "mb", "gb", "tb",
    "kib", "mib", "gib", "tib", "k", "px", "em", "rem", "pt", "mm", "cm", "m", "km", "ft", "in", "mi", "nm",
    "g", "kg", "mg", "lb", "lbs", "oz", "l", "ml", "c", "f", "deg", "rad", "hz", "khz", "mhz", "ghz", "kbps",
    "mbps", "bps", "kw", "kwh", "w", "v", "a", "pa", "hpa", "bar", "rpm", "fps", "kmh", "mph", "pct",
];

/// Whether the name of a number needs a unit that neither the name nor the description states. `others` are the names
/// of all arguments: one of them may be the unit.
pub(super) fn is_missing<'a>(
    name: &str,
    description: &str,
    is_integer: bool,
    mut others: impl Iterator<Item = &'a str>,
) -> bool {
    let name_words = words(name);
    // An integer weight is a rank, and `u_height` is in rack units.
    let is_rank = is_integer && name_words.last().is_some_and(|last| last == "weight");
    let names_unit = |other: &str| words(other).iter().any(|word| matches!(word.as_str(), "unit" | "units"));
    if is_rank || name_words.first().is_some_and(|first| first == "u") || others.any(names_unit) {
        return false;
    }
    let is_measure = name_words.iter().any(|word| MEASURES.contains(&word.as_str()))
        && !name_words.iter().any(|word| COUNTS.contains(&word.as_str()));
    if !is_measure {
        return false;
    }
    let last = name_words.last().map(String::as_str).unwrap_or_default();
    let is_in_name = ABBREVIATIONS.contains(&last)
        || name_words.iter().any(|word| UNITS.iter().any(|unit| word.contains(unit)));
    if is_in_name || description.contains('%') {
        return false;
    }
    let lower = description.to_lowercase();
    // `in` and `a` are usually not inches and amperes.
    let is_abbreviation = |word: &String| {
        ABBREVIATIONS.contains(&word.as_str()) && !matches!(word.as_str(), "in" | "a" | "s" | "us")
    };
    !UNITS.iter().any(|unit| lower.contains(unit))
        && !words(&separate_numbers(&lower)).iter().any(is_abbreviation)
}

/// Separates numbers from the letters after them: `30s` is `30 s`.
fn separate_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for char in text.chars() {
        if before.is_ascii_digit() && char.is_alphabetic() {
            out.push(' ');
        }
        out.push(char);
        before = char;
    }
    out
}
