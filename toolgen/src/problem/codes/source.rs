//! Problems of parsing a document (01xx).

super::table! {
    UNREADABLE_FILE = "E0101", "The file cannot be read", "
The file does not exist, is a directory, or the system refuses to open it. Nothing of it is compiled.

Check the name and the permissions of the file. Names are relative to the folder that the command is run in; in a build
script, to the folder of the package.

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
There is nothing in the document but whitespace or comments. Check that this is the file you meant, and that it was saved.
";
    MALFORMED_TEXT = "E0104", "The document is neither JSON nor YAML", "
The text breaks the grammar at the place named, so what follows cannot be trusted and nothing is compiled. A
document that begins with `{` or `[` is read as JSON, any other as YAML, whatever the file is called.

Fix the text at the place named; the mistake may also be just before it. Frequent mistakes are a comma after the last
item (JSON), a tab as indentation, and a `: ` or ` #` in an unquoted string (YAML).

    { \"openapi\": \"3.0.3\", }          a comma too many
    description: Note: beta            needs quotes: \"Note: beta\"
";
    NOT_UTF8 = "E0105", "The document is not UTF-8 everywhere", "
Some bytes are not UTF-8, as in documents saved with an old encoding such as Latin-1. They are read as U+FFFD, the
replacement character, and the document is compiled with it, so that a letter in a description does not cost the
document. A model would read a broken word.

Save the document as UTF-8.

    $ iconv -f ISO-8859-1 -t UTF-8 api.yaml > api-utf8.yaml
";
    DUPLICATE_KEY = "E0106", "A key is given twice in one object", "
JSON and YAML require the keys of an object to be unique. Readers differ: most silently keep the last value, some the
first, some refuse the document. The last one is kept here; what the first one said is not compiled. A tool of a manifest is left out.

Remove one of the two, or merge them: two `get` entries under a path, or a path listed twice, usually mean that
operations are missing.

    paths:
      /pets:
        get: { operationId: listPets }
      /pets:                             given twice: listPets is lost
        post: { operationId: addPet }
";
    TOO_DEEP = "E0107", "The document is nested too deep", "
More than 512 levels of objects and arrays do not describe an interface, and readers that follow them run out of stack.
Nothing is compiled.

Name parts of the document under `components` and refer to them with `$ref`.
";
    TRAILING_TEXT = "E0108", "Text follows the end of the document", "
The document is complete, but text follows it, for example the rest of an older version, or a second document. Only
the first is read.

    { \"openapi\": \"3.0.3\", \"paths\": {} } }
";
    TOO_MANY_ALIASES = "E0109", "Aliases expand to too much", "
YAML aliases (`*name`) stand for a copy of what their anchor (`&name`) marks. A few lines can thus stand for billions of
values, which is a way to exhaust readers. At most a million values may come from aliases; this document asks for more,
and is refused.

Use `$ref` to share parts of a document: it is not copied.
";
    RECURSIVE_ALIAS = "E0110", "An alias stands inside what it stands for", "
The alias names an anchor whose value contains the alias, so the value would never end. It is read as `null`.

Use `$ref` for schemas that contain themselves.

    node: &node
      children: *node                  use $ref: '#/components/schemas/node'
";
    COMPLEX_KEY = "E0111", "A key is not a scalar", "
YAML allows lists and objects as keys, JSON does not, and documents are JSON in meaning. The member is left out.

Often a string in braces was meant, which needs quotes.

    {id}: 5                              needs quotes: \"{id}\"
";
    ODD_STRING = "W0112", "A string holds what JSON forbids", "
A string contains an unescaped control character, such as a line break, or a `\\u` escape that is half of a surrogate
pair. It is read in the only sensible way, but other readers refuse the document.

Write control characters as escapes (`\\n`, `\\t`), and characters outside the basic plane as themselves.
";
    INEXACT_NUMBER = "N0113", "A number does not fit 64 bits", "
The number is an integer beyond 64 bits; the nearest floating-point number is used. Such numbers are mostly bounds
(`maximum`), where the difference does not matter.

    maximum: 18446744073709551616        is read as 1.8446744073709552e19
";
    SECOND_DOCUMENT = "W0114", "The file holds several YAML documents", "
A line `---` begins a second document in the file. Only the first is read.

Put each document into a file of its own.
";
    UNKNOWN_TAG = "W0115", "A YAML tag is not understood", "
A tag such as `!include` asks a particular program to do something with the value. Tags beyond those of the YAML
core schema (`!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!seq`, `!!map`) are ignored, so the value is read
as it stands. Nothing is included or run.

Resolve such tags first, with the program they are meant for.
";
    BAD_TAG = "W0116", "A YAML tag does not fit its value", "
A tag such as `!!int` names a type that the value does not have. The value is read as text.

    port: !!int eighty                   is read as \"eighty\"
";
    INFINITE_NUMBER = "E0117", "A number is not finite", "
The number is infinite, too large for a floating-point number of 64 bits, or not a number (`.nan`). The largest number
is used for it, `null` for `.nan`.

Leave out a bound that should not limit anything.

    maximum: 1e400                       leave it out
    maximum: .inf                        leave it out
";
    LOOSE_YAML = "N0118", "The text is not quite YAML", "
A closing bracket is indented no further than its key, a quoted string continues there, or a comment follows a quote or
a bracket without a space. Most readers accept this, and it has one meaning, so it is read; strict readers refuse the
document.

    enum: [
      \"a\"
    ]                                    indent the bracket further
";
    CUT_BY_COMMENT = "W0119", "A text ends where a comment begins", "
A `#` after a space begins a comment in YAML, so a text without quotes ends before it. What follows looks like a part of
the text: a channel, a tag, the number of an issue.

    description: Posts to #general       write: 'Posts to #general'
    timeout: 5s #five seconds            is a single word, and not reported
";
}
