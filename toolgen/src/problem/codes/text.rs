//! Findings of the lints on descriptions (07xx). See `toolgen_runtime::spec::lint`.

super::table! {
    NO_DESCRIPTION = "W0701", "A tool has no description", "
A model chooses a tool by its description. Without one it has only the name, or the method and the path of the request,
and guesses.

Write what the tool does, when to use it and what it returns: `description` or `summary` of an operation, `description`
in a manifest, `overrides` for somebody else's document.

    /pets/{id}:
      get: {operationId: getPet}                              nothing is said
      get: {operationId: getPet, summary: Gets a pet, with its owner and its shots.}
";
    NO_ARGUMENT_DESCRIPTION = "N0702", "Arguments have no description", "
A model fills in an argument by its name and its type. Where those do not say what is wanted, in which form and of what,
it guesses. Names that say everything need no description: that is why this is a note.

    - {name: filter, in: query}                               which language?
    - {name: filter, in: query, description: 'An OData filter, such as `price gt 20`.'}
";
    RESTATES_NAME = "N0703", "A description says no more than the name of its tool", "
`Get pet` for `getPet` costs tokens and says nothing new. Say what the name does not: of what, when, what comes back.

    summary: List orders                                      of listOrders
    summary: Lists the open orders of a customer, the newest first.
";
    ARGUMENT_RESTATES_NAME = "N0704", "A description says no more than the name of its argument", "
`The pet id` for `petId` costs tokens and says nothing new. Say what the name does not, or leave the description out.

    petId: The pet id                                         write: as `listPets` gives it
";
    NO_UNIT = "N0706", "A number has no unit", "
The name says that the number is a length of time, a size, a distance or the like, and neither the name nor the
description says in which unit. Models take seconds for milliseconds.

    timeout: {type: integer, description: How long to wait.}
    timeout: {type: integer, description: 'How long to wait, in seconds.'}
    timeout_ms: {type: integer, description: How long to wait.}
";
    NEAR_DUPLICATE = "N0709", "Several tools look alike", "
The descriptions or the names of several tools have the same words, apart from case, order, endings and words such as
`the`. A model that has both chooses at random.

Say in each description what only that tool does, or leave tools out: `--exclude`, `exclude`, a toolset.

    listPets: Lists all pets          getPets: List pets
";
    HIDDEN = "W0710", "A text has invisible characters", "
Zero-width characters, marks that change the direction of the text, control characters: a person who reads the document
does not see them, but a model does. Mostly they were copied by accident; they are also a way to hide instructions. They
are left out of what is compiled.

Remove them from the text. Joiners in scripts and emoji that need them are not reported.
";
    INSTRUCTIONS = "N0711", "A text tells a model what to do beyond the tool", "
The text gives orders, such as `ignore previous instructions` or `do not tell the user`, or has marks that only mean
something to a model. What a description says stands in the prompt of every turn.

Read it. Say what the tool does, and leave orders to the prompt of the program. W0604 is the same for MCP servers.
";
    UNFIT_EXAMPLE = "N0712", "An example is not a call that the tool accepts", "
A model imitates examples. This one breaks the schema, so it is not shown in documentation.

Correct the example or the schema. Manifests are stricter: E0420.
";
    VAGUE = "W0713", "Nothing says how to call a tool", "
The tool may change something, none of its arguments is required, each is any text, and no description says more than
a name. A model can only guess what to give.

Say which arguments are required, what each of them is, with an example, and what is used where one is left out.

    container: {type: string, description: Container}
    container_name: {type: string, description: 'The image, such as ubuntu:22.04'}
";
    NO_VALUE = "W0714", "No value fits a schema", "
The rules of the schema exclude one another, so that a model can give nothing that is accepted. If the argument is
required, the tool can never be called; otherwise the argument can never be given.

Correct the rule that is wrong: bounds that are swapped, parts of `allOf` of two types, lists of values without a common
one. Of an object that requires a value of its own schema, which requires another one, and so on, one must be optional,
allow `null`, or be an item of a list that may be empty. Leave out a tool that nobody needs.

    type: integer, minimum: 5, maximum: 3
    allOf: [{type: string}, {type: integer}]
    Node: {required: [next], properties: {next: {$ref: '#/components/schemas/Node'}}}
";
}
