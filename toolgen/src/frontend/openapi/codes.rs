//! Problems of OpenAPI documents (03xx).

crate::problem::codes::table! {
    VERSION = "E0302", "The version of OpenAPI is not supported", "
Documents of OpenAPI 3 and of Swagger 2.0 are compiled. This one names another version, whose meaning may differ, so
nothing is compiled.

If the document really is of one of these versions, correct the field `openapi` or `swagger`.
";
    OPERATION = "E0303", "An operation cannot be compiled", "
The method of a path contains something that is not an operation, or the operation has a parameter or a body that cannot
be sent: a reference to it or to its schema is dangling, or no media type can represent its schema. A tool without it
would send wrong requests, so the operation is omitted, and the rest of the document is compiled.

Add the missing part, or remove the method.

    /pets:
      get: listPets                      an operation is an object
";
    EXTERNAL_REF = "E0304", "The target of a reference is not read", "
A document may refer to files in and below its own directory, and in directories named by `--root` or `Options::root`. A
link counts as its target. Nothing is fetched from the network, and other files are not read, because a document could
make the compiler read files that it should not.

An operation with a parameter in such a file is compiled without it, and works if the parameter is optional. An
operation whose body, or the schema of a parameter, is there is omitted (E0303).

Move the file below the directory of the document, or name its directory. If parts of the document are on the network,
bundle them into one file first, for example with `npx @redocly/cli bundle api.yaml`.

    $ref: './schemas/pet.yaml'           is read
    $ref: '../shared/pet.yaml'           needs `--root ../shared`
    $ref: 'https://x.test/pet.yaml'      is not read
";
    MISSING_REF = "W0305", "A reference does not resolve", "
The document has no value at the location that the reference names. If it concerns the parameters or the body of an
operation, the operation is omitted (E0303). In a named schema or a result, any value is accepted; anything else is
omitted.

Correct the reference. Names are case-sensitive; in a name, `/` is written `~1` and `~` is written `~0`.

    $ref: '#/components/schemas/pet'     but the schema is called Pet
";
    CYCLIC_REF = "W0306", "A reference is circular", "
The reference never resolves to a value: its target is a reference back to it. It is read as any value, or omitted. A
schema that contains itself in a property is not such a cycle, and is valid.

    A: { $ref: '#/components/schemas/B' }
    B: { $ref: '#/components/schemas/A' }
";
    DUPLICATE_NAME = "E0307", "Two operations want the same tool name", "
Names of tools must be unique. Operations with the same `operationId` or none are distinguished by method and path;
these two have the same, for example because their paths differ only in notation. The second is omitted.

Give one of the two a unique `operationId`, or rename it (`--rename`).
";
    UNKNOWN_VERSION = "W0310", "The version of OpenAPI is unknown", "
The document names a version 3 other than 3.0, 3.1 and 3.2. It is compiled by the rules of 3.1; additions of its version
are not understood.
";
    NO_PATHS = "W0311", "The document has no operations", "
There is no `paths`, so there are no tools. Documents of OpenAPI 3.1 may consist of `webhooks` or `components` only,
which are not operations to call.
";
    MALFORMED = "W0312", "A part of the document has the wrong form", "
The part is a string where an object is expected, an array where a string is expected, and so on. It is omitted, and the
rest is compiled.

Correct it as the message says; the specification of OpenAPI lists the form of each object.
";
    PARAMETER = "W0313", "A parameter is not usable as it is declared", "
A parameter needs a `name`, an `in` of `path`, `query`, `querystring`, `header` or `cookie`, and a `schema` or a
`content`, and is declared once per operation; Swagger 2.0 also has an `in` of `body` or `formData`, and a `type` in the
parameter. Headers such as `Content-Length` and `Host` are set by the HTTP client and are not parameters. The message
says what is missing or duplicate, and how the document is read.

    parameters:
      - name: limit
        in: query
        schema: { type: integer }
";
    PATH_PARAMETER = "W0314", "A path and its parameters do not match", "
Each `{name}` of a path is a parameter with `in: path` of the same name, and vice versa. A parameter without a
placeholder in the path cannot be sent and is omitted; a placeholder without a parameter takes a string. Placeholders in
the notation of routers, `:petId` and `<petId>`, are read as `{petId}`. A parameter of the query that the path itself
sets (`/pets?kind=cat`) is omitted. An operation whose path has a `.` or `..` segment is omitted, as clients resolve
these and the request would go to another path. A `*` after a placeholder is sent literally.

    /pets/{petId}:
      parameters:
        - { name: id, in: path }         the path calls it petId
";
    STYLE = "W0315", "A style is not defined for its location", "
The location of a parameter determines its possible `style`: paths allow simple, label and matrix; queries form,
spaceDelimited, pipeDelimited and deepObject; headers simple; cookies form and cookie. The location's default is used.
";
    BODY = "W0316", "A request body is not fully usable", "
The message gives the reason. The body has no media type and is omitted. No media type can represent its schema, as a
form cannot represent an array. Its media type, such as CSV, cannot be generated from arguments, so the model writes the
text itself. The body is XML, and its schema does not name the root element. Or a field of a form can be a file or an
object, which are indistinguishable, so no file is sent in it.
";
    SECURITY = "W0317", "A security scheme is not usable", "
An operation requires a scheme that is not declared under `components/securitySchemes` (in Swagger 2.0
`securityDefinitions`), or whose declaration does not determine where the credential is sent. That alternative of
authentication is omitted, so the server may reject a call. The same applies to a parameter `Authorization` without a
scheme: a model must not set credentials. If the service needs one nevertheless, send it as a header of every request:
`HttpEngineBuilder::header`, or `--header NAME=ENV_VAR`. Two schemes of one alternative that use the same location,
such as basic and bearer, cannot both be sent; each is read as an alternative. Credentials are also not sent by a scheme
of HTTP other than basic and bearer, such as digest, which needs more than a header, or in a header that the client
sets, such as `Host`.
";
    SERVER = "W0318", "A server is not usable as it is declared", "
A server needs a `url` with a host that exists, and each `{variable}` in it needs a default under `variables`. Missing
parts must be set before a call (`--base-url`, `--server-variable`). So must a server for requests, if all declared
servers are for WebSockets (`wss://…`) or have another scheme than http and https. A user name or a password in the URL
is removed: a credential belongs in a security scheme. In Swagger 2.0, `host`, `basePath` and `schemes` form the server;
without `schemes`, https is used.

    servers:
      - url: https://{region}.example.com
        variables: { region: { default: eu } }
";
    SCHEMA = "W0320", "A part of a schema is not understood", "
A keyword has an invalid value, such as a `required` that is not an array or a `pattern` that is not a regular
expression. Or a `$dynamicRef` may resolve to one of several schemas, depending on the path to it. The keyword is
ignored, so more is accepted than the document declares; the server decides.
";
    SCHEMA_TYPE = "W0321", "A type is not one of JSON Schema", "
The types are string, number, integer, boolean, object, array and, from OpenAPI 3.1, null. The message says how another
word, such as `file` or `datetime`, is read.

    type: datetime                       write: string, format: date-time
";
    SCHEMA_DEPTH = "W0322", "A schema is nested too deep", "
Schemas are read to a limited depth. Deeper schemas are read as any value: the tool works, but a model does not see what
to send there.

Name inner schemas under `components/schemas` (in Swagger 2.0 `definitions`), and refer to them.
";
    DEFAULT = "N0323", "A default or an example does not match its schema", "
The schema does not allow its own default or example, such as the string \"ten\" for an integer, also inside an object
or an array. The model does not see it, since it would send it; a default that the service uses is mentioned in the
description.

A string that is the JSON of a valid value is read as that value. Where an array is expected, items separated by commas,
or a single item, are read as an array.

    type: array, items: { type: string }, default: 'id,name'       is read as [id, name]
";
    PATTERN = "W0324", "A pattern is not a regular expression", "
Patterns are regular expressions of ECMA-262 (JavaScript). This one is not valid, so it is ignored: the model does not
see it, arguments are not checked against it, and the server decides.

Write it without delimiters.

    pattern: '([a-z'                     a bracket is not closed
";
    PATTERN_DIALECT = "W0325", "A pattern has another dialect", "
Patterns are regular expressions of ECMA-262 (JavaScript). This one uses syntax of other dialects, such as flags at its
start (`(?i)`), `\\A`, `\\z` or possessive quantifiers, or has repetitions that are too large to run. The model sees it
in the description; arguments are not checked against it, and the server decides.

    pattern: '(?i)[a-z]+'                write: '[A-Za-z]+'
";
    CONTRADICTION = "W0326", "A schema contradicts itself", "
The values of a schema's `enum` or `const` do not have the type that its `type` names, such as booleans where the type
is a string: in YAML, `true` and `1.0` are not strings unless quoted. They are read and published as the named type. In
a path, a query, a header or a form, both notations are accepted.

    type: string
    enum: [true, false]                  write: ['true', 'false']

For an array, values that are not arrays are read as those of its items:

    type: array
    enum: [asc, desc]                    write: items: {type: string, enum: [asc, desc]}
";
    NAME = "N0332", "An operation has no valid tool name", "
Either the operation has no `operationId`, and its tool is named after the method and the path; or it has one that no
provider accepts as the name of a tool, and it is converted: names have at most 64 letters, digits, `_` and `-`, and are
unique. The name does not depend on the order of the document or on filters. `--rename` sets another one.

    operationId: emails/send             becomes emails_send
";
    MEDIA_TYPE = "N0340", "One of several media types was chosen", "
The body may be sent as one of several media types; a tool sends one. JSON is preferred, then forms, then others; for
bytes, which JSON cannot represent, a multipart form or the bytes themselves.
";
    UNUSUAL_BODY = "N0342", "A method has no defined use for a body", "
HTTP does not define the body of a GET, HEAD or TRACE request, and some servers and proxies drop it. Services that
declare one read it, so it is sent.
";
    PART_OF_DOCUMENT = "N0344", "A reference in a part resolves in the document", "
A file that the document refers to has references without a file name, `#/…`, which should resolve in that file. They do
not resolve there, but they do in the document, so its value is used, as in many other parsers.

    $ref: '#/components/schemas/Pet'     in schemas/pets.yaml
    $ref: '../api.yaml#/components/schemas/Pet'
";
    NEWER_KEYWORD = "N0343", "A keyword belongs to another version", "
A document of Swagger 2.0 has a keyword that OpenAPI 3 introduced, such as `requestBody` or `servers`. It is read with
that meaning, unless keywords of Swagger 2.0 contradict it; other parsers may ignore it.

The same applies to `required: true` in the schema of a property, which JSON Schema had until draft 3: the property is
required.

    properties: {id: {type: string, required: true}}
    properties: {id: {type: string}}, required: [id]
";
    FRAGMENT = "N0345", "The fragment of a path is not sent", "
The part after a `#` outside of braces is never sent to a server. Some documents use it to distinguish several
operations on one path, which also send a header or a field that identifies the operation.

    /#X-Amz-Target=Echo                  sends the path / alone
    /tags/%23new                         sends a `#`
";
    EXTERNAL_EXAMPLE = "N0346", "An external example is not read", "
The value of an example is external (`externalValue`). It is read like the files of references: in and below the
directory of the document, and in directories named by `--root` or `Options::root`. Nothing is fetched from the network.
An example that is not read is omitted; the tool works without it.

Save the example next to the document, or write it as `value`.

    externalValue: ./examples/pet.json             is read
    externalValue: https://x.test/pet.json         is not
";
    CHOICES = "N0347", "Names of values do not match the values", "
`x-enum-varnames`, `x-enumNames`, `x-enum-descriptions`, `x-enumDescriptions` and the `values` of `x-ms-enum` name or
describe the values of an `enum`: one string for each value, in order, or a map by values. Names must contain a letter
and be unique. Entries that do not match are ignored, and the values themselves serve as names.

    enum: [0, 1]
    x-enum-varnames: [Idle, Running]
";
    OVERLAP = "N0348", "Alternatives of `oneOf` overlap", "
A `oneOf` requires that exactly one of its alternatives matches, but according to the schemas, a value may match
several: an integer and a number, or objects that require different keys and allow others. Services accept such values,
so they are accepted here, and the model sees `anyOf`.

Write `anyOf`, or require a property with a different constant in each alternative.

    oneOf: [{type: integer}, {type: number}]       5 matches both
    oneOf: [{type: integer}, {type: string}]       no value matches both
";
    PART_HEADERS = "N0349", "Headers of a part are not sent", "
An `encoding` of a form declares `headers` of its part other than `Content-Type`. They are not sent, and do not become
arguments: no service is known to read them.

    encoding: { file: { headers: { X-Checksum: { schema: { type: string } } } } }
";
    NOT_TOOLS = "N0341", "A part of the document does not become tools", "
Webhooks and callbacks are requests that the service sends to you. A model cannot call them.
";
}
