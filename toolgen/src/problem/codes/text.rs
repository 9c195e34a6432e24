//! Findings of the lints on descriptions (07xx). See `toolgen_runtime::spec::lint`.

super::table! {
    NO_DESCRIPTION = "W0701", "A tool has no description", "
A model chooses a tool by its description. Without one, it only has the name, or the method and the path of the request,
and guesses.

Write what the tool does, when to use it and what it returns: `description` or `summary` of an operation, `description`
in a manifest, `overrides` for a document that is not yours.

    /pets/{id}:
      get: {operationId: getPet}                              no description
      get: {operationId: getPet, summary: Gets a pet, with its owner and its shots.}
";
    NO_ARGUMENT_DESCRIPTION = "N0702", "Arguments have no description", "
A model sets an argument by its name and its type. If those do not express the meaning and the format of the value, it
guesses. Some names need no description, so this is only a note.

    - {name: filter, in: query}                               which language?
    - {name: filter, in: query, description: 'An OData filter, such as `price gt 20`.'}
";
    RESTATES_NAME = "N0703", "A description only repeats the name of its tool", "
`Get pet` for `getPet` costs tokens and adds no information. Describe what the name does not express: the object, when
to use the tool, what it returns.

    summary: List orders                                      of listOrders
    summary: Lists the open orders of a customer, the newest first.
";
    ARGUMENT_RESTATES_NAME = "N0704", "A description only repeats the name of its argument", "
`The pet id` for `petId` costs tokens and adds no information. Describe what the name does not express, or remove the
description.

    petId: The pet id                                         write: as returned by `listPets`
";
    NO_UNIT = "N0706", "A number has no unit", "
According to its name, the number is a duration, a size, a distance or a similar quantity, and neither the name nor the
description contains its unit. Models confuse seconds with milliseconds.

    timeout: {type: integer, description: How long to wait.}
    timeout: {type: integer, description: 'How long to wait, in seconds.'}
    timeout_ms: {type: integer, description: How long to wait.}
";
    NEAR_DUPLICATE = "N0709", "Several tools look alike", "
The descriptions or the names of several tools have the same words, apart from case, order, endings and words such as
`the`. A model that has both chooses at random.

Describe in each tool what only that tool does, or remove tools: `--exclude`, `exclude`, a toolset.

    listPets: Lists all pets          getPets: List pets
";
    HIDDEN = "W0710", "A text has invisible characters", "
The text contains zero-width characters, marks that change the text direction, or control characters. A person who views
the document does not see them, but a model does. Usually they were copied by accident, but they can also hide
instructions. They are removed from compiled tools.

Remove them from the text. Joiners in scripts and emoji that need them are not reported.
";
    INSTRUCTIONS = "N0711", "A text instructs the model beyond the use of the tool", "
The text contains instructions, such as `ignore previous instructions` or `do not tell the user`, or markup that is only
meaningful to a model. A description is part of the prompt in every turn.

Review it. Describe what the tool does, and put instructions into the system prompt of your program. W0604 is the same
for MCP servers.
";
    INVALID_EXAMPLE = "N0712", "An example is not a call that the tool accepts", "
A model imitates examples. This one violates the schema, so it is not shown in documentation.

Correct the example or the schema. Manifests are stricter: E0420.
";
    VAGUE = "W0713", "Nothing describes how to call a tool", "
The tool may change something, none of its arguments is required, each is an arbitrary string, and no description adds
to the names. A model can only guess the values.

Declare which arguments are required, describe each of them, with an example, and the default of optional ones.

    container: {type: string, description: Container}
    container_name: {type: string, description: 'The image, such as ubuntu:22.04'}
";
    NO_VALUE = "W0714", "No value matches a schema", "
The rules of the schema exclude one another, so that no value is accepted. If the argument is required, the tool can
never be called; otherwise the argument can never be set.

Correct the wrong rule: swapped bounds, parts of `allOf` with different types, enumerations without a common value. In
an object that requires a value of its own schema, recursively, one of the properties must be optional, allow `null`, or
be an item of an array that can be empty. Exclude the tool if it is not needed.

    type: integer, minimum: 5, maximum: 3
    allOf: [{type: string}, {type: integer}]
    Node: {required: [next], properties: {next: {$ref: '#/components/schemas/Node'}}}
";
}
