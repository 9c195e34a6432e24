//! The characters that HTML names.

/// The longest name of a character, with its `&` and `;`.
const LONGEST: usize = 12;

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

/// Reads the character that a text names at its start, `&lt;` or `&#60;` or `&#x3c;`. Returns it and the length of its
/// name; names of hidden characters give none.
pub(super) fn character(text: &str) -> Option<(Option<char>, usize)> {
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let found = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => NAMED.iter().find(|(known, _)| *known == name)?.1,
    };
    let mut buffer = [0; 4];
    let shown = super::visible(found.encode_utf8(&mut buffer)).chars().next();
    Some((shown, end + 1))
}
