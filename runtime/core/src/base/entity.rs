//! HTML character references.

/// Maximum length of a character reference, in bytes, with its `&` and `;`.
const MAX_LENGTH: usize = 12;

const NAMED: [(&str, char); 48] = [
    ("amp", '&'),
    ("apos", '\''),
    ("bull", '•'),
    ("cent", '¢'),
    ("copy", '©'),
    ("darr", '↓'),
    ("deg", '°'),
    ("divide", '÷'),
    ("emsp", ' '),
    ("ensp", ' '),
    ("euro", '€'),
    ("frac12", '½'),
    ("ge", '≥'),
    ("gt", '>'),
    ("harr", '↔'),
    ("hellip", '…'),
    ("infin", '∞'),
    ("iexcl", '¡'),
    ("iquest", '¿'),
    ("laquo", '«'),
    ("larr", '←'),
    ("ldquo", '“'),
    ("le", '≤'),
    ("lsquo", '‘'),
    ("lt", '<'),
    ("mdash", '—'),
    ("micro", 'µ'),
    ("middot", '·'),
    ("minus", '−'),
    ("nbsp", ' '),
    ("ndash", '–'),
    ("ne", '≠'),
    ("para", '¶'),
    ("plusmn", '±'),
    ("pound", '£'),
    ("quot", '"'),
    ("raquo", '»'),
    ("rarr", '→'),
    ("rdquo", '”'),
    ("reg", '®'),
    ("rsquo", '’'),
    ("sect", '§'),
    ("thinsp", ' '),
    ("times", '×'),
    ("trade", '™'),
    ("uarr", '↑'),
    ("uuml", 'ü'),
    ("yen", '¥'),
];

/// Parses the character reference at the start of a string: `&lt;`, `&#60;` or `&#x3c;`. Returns the character and
/// the length of the reference.
#[must_use]
pub fn character(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(MAX_LENGTH).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let decoded = match name.strip_prefix('#') {
        Some(number) => {
            let hexadecimal = number.strip_prefix(['x', 'X']);
            let code = hexadecimal.map_or_else(|| number.parse(), |code| u32::from_str_radix(code, 16));
            char::from_u32(code.ok()?)?
        }
        None => NAMED.iter().find(|(entity, _)| *entity == name)?.1,
    };
    Some((decoded, end + 1))
}
