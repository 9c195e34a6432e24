//! Problems of parsing a document (01xx).

super::table! {
    UNREADABLE_FILE = "E0101", "The file cannot be read", "
The file does not exist, is a directory, or the system refuses to open it. Nothing is compiled.

Check the name and the permissions of the file. Names are relative to the current directory of the command; in a build
script, to the directory of the package.

    $ cargo toolgen check api/petstor.yaml
    error[E0101]: there is no such file
";
    NOT_TEXT = "E0102", "The file is not text of a reasonable size", "
A document is UTF-8 text of at most 128 MB. This one is larger, is in another encoding (UTF-16, UTF-32), or is a
binary file.

Save the document as UTF-8. Many small documents compile as well as a large one: `cargo toolgen` takes several.

    $ iconv -f UTF-16 -t UTF-8 api.json > api-utf8.json
";
    EMPTY_DOCUMENT = "E0103", "The document is empty", "
The document contains only whitespace or comments. Check that this is the right file, and that it was saved.
";
    MALFORMED_TEXT = "E0104", "The document is neither JSON nor YAML", "
The text violates the grammar at the location shown, so the rest cannot be trusted and nothing is compiled. A document
that begins with `{` or `[` is read as JSON, any other as YAML, regardless of the file name.

Fix the text at the location shown; the error may also be just before it. Frequent errors are a comma after the last
item (JSON), a tab as indentation, and a `: ` or ` #` in an unquoted string (YAML).

    { \"openapi\": \"3.0.3\", }          one comma too many
    description: Note: beta            needs quotes: \"Note: beta\"
";
    NOT_UTF8 = "E0105", "The document is not UTF-8 everywhere", "
Some bytes are not UTF-8, as in documents saved with an old encoding such as Latin-1. They are read as U+FFFD, the
replacement character, and the document is compiled with it, so that a letter in a description does not cost the
document. A model would read a broken word.

Save the document as UTF-8.

    $ iconv -f ISO-8859-1 -t UTF-8 api.yaml > api-utf8.yaml
";
    DUPLICATE_KEY = "E0106", "An object has a duplicate key", "
JSON and YAML require that the keys of an object are unique. Parsers differ: most silently keep the last value, some the
first, some reject the document. The last value is kept here; the first one is not compiled. A tool of a manifest with a
duplicate key is omitted.

Remove one of the two, or merge them: two `get` entries under a path, or a path listed twice, usually mean that
operations are missing.

    paths:
      /pets:
        get: { operationId: listPets }
      /pets:                             a duplicate: listPets is lost
        post: { operationId: addPet }
";
    TOO_DEEP = "E0107", "The document is nested too deep", "
The document has more than 512 levels of objects and arrays, which no real interface needs, and which exhaust the stack
of parsers. Nothing is compiled.

Name parts of the document under `components` and refer to them with `$ref`.
";
    TRAILING_TEXT = "E0108", "Text follows the end of the document", "
The document is complete, but text follows it, for example the rest of an older version, or a second document. Only
the first is read.

    { \"openapi\": \"3.0.3\", \"paths\": {} } }
";
    TOO_MANY_ALIASES = "E0109", "Aliases expand to too much", "
A YAML alias (`*name`) expands to a copy of the value that its anchor (`&name`) marks. A few lines can thus expand to
billions of values, which can exhaust the memory of parsers. At most a million values may come from aliases; this
document has more, and is rejected.

Use `$ref` to share parts of a document: it is not copied.
";
    RECURSIVE_ALIAS = "E0110", "An alias is inside its own anchor", "
The alias names an anchor whose value contains the alias, so the value would never end. It is read as `null`.

Use `$ref` for schemas that contain themselves.

    node: &node
      children: *node                  use $ref: '#/components/schemas/node'
";
    COMPLEX_KEY = "E0111", "A key is not a scalar", "
YAML allows arrays and objects as keys, but JSON does not, and documents have the data model of JSON. The member is
omitted.

Often a string in braces was meant, which needs quotes.

    {id}: 5                              needs quotes: \"{id}\"
";
    ODD_STRING = "W0112", "A string contains characters that JSON forbids", "
A string contains an unescaped control character, such as a line break, or a `\\u` escape that is half of a surrogate
pair. It is read in the only sensible way, but other parsers reject the document.

Write control characters as escapes (`\\n`, `\\t`), and characters outside the basic plane literally.
";
    INEXACT_NUMBER = "N0113", "A number does not fit in 64 bits", "
The number is an integer beyond 64 bits; the nearest floating-point number is used. Such numbers are mostly bounds
(`maximum`), where the difference does not matter.

    maximum: 18446744073709551616        is read as 1.8446744073709552e19
";
    SECOND_DOCUMENT = "W0114", "The file contains several YAML documents", "
A line `---` begins a second document in the file. Only the first is read.

Put each document into a separate file.
";
    UNKNOWN_TAG = "W0115", "A YAML tag is not understood", "
A tag such as `!include` asks a particular program to do something with the value. Tags beyond those of the YAML
core schema (`!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!seq`, `!!map`) are ignored, so the value is read
unchanged. Nothing is included or executed.

Resolve such tags first, with the program that they are meant for.
";
    BAD_TAG = "W0116", "A YAML tag does not match its value", "
A tag such as `!!int` names a type that the value does not have. The value is read as a string.

    port: !!int eighty                   is read as \"eighty\"
";
    INFINITE_NUMBER = "E0117", "A number is not finite", "
The number is infinite, too large for a floating-point number of 64 bits, or not a number (`.nan`). The largest number
is used for it, `null` for `.nan`.

Remove a bound that should not limit anything.

    maximum: 1e400                       remove it
    maximum: .inf                        remove it
";
    LOOSE_YAML = "N0118", "The document is not strictly valid YAML", "
A closing bracket is indented no further than its key, a quoted string continues there, or a comment follows a quote or
a bracket without a space. Most parsers accept this, and its meaning is clear, so it is accepted; strict parsers reject
the document.

    enum: [
      \"a\"
    ]                                    indent the bracket further
";
    CUT_BY_COMMENT = "W0119", "A string ends where a comment begins", "
A `#` after a space begins a comment in YAML, so a string without quotes ends before it. The comment looks like a part
of the string: a channel, a tag, an issue number.

    description: Posts to #general       write: 'Posts to #general'
    timeout: 5s #five seconds            is a single word, and not reported
";
}
