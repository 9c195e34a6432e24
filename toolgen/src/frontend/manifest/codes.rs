//! Problems of manifests (04xx).

crate::problem::codes::table! {
    VERSION = "E0401", "The version of the manifest is not supported", "
A manifest starts with `toolgen: 1`, the version of its format. This one says another, whose meaning may differ, so
nothing is compiled.

If the manifest is in truth of version 1, correct the number. Otherwise use a newer `toolgen`.

    toolgen: 1
";
    UNKNOWN_KEY = "E0402", "A key is not known here", "
Every key of a manifest means something. One that is misspelt, or in the wrong place, would silently have no effect, so
it is an error. Keys at the top of the file that start with `x-` are for you alone, for example to hold YAML anchors.

    tools:
      count:
        descripton: Counts words.        write: description
";
    WRONG_KIND = "E0403", "A value is of the wrong kind", "
Something is a text where an object is expected, a list where a text is, and so on. In YAML an unquoted `yes` is a text,
`true` a boolean, `5` a number and an empty value nothing at all.

    timeout: 30                          write: timeout: 30s
    category: 2024                       write: category: '2024'
";
    MISSING = "E0404", "A required key is missing", "
What is described cannot work without the key that the message names.

    command: {}                          which program? Add `argv`
";
}
