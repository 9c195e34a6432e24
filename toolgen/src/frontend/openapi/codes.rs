//! Problems of OpenAPI documents (03xx).

crate::problem::codes::table! {
    VERSION = "E0302", "The version of OpenAPI is not supported", "
Documents of OpenAPI 3 and of Swagger 2.0 are compiled. This one names another version, whose meaning may differ, so
nothing is compiled.

If the document really is of one of these versions, correct the field `openapi` or `swagger`.
";
    OPERATION = "E0303", "An operation cannot be compiled", "
The method of a path holds something that is not an operation, or the operation has a parameter or a body that cannot be
sent: a reference to it or to its schema leads to nothing, or no media type can carry its schema. A tool without it
would send wrong requests, so the operation is left out, and the rest of the document is compiled.

Write what is missing, or remove the method.

    /pets:
      get: listPets                      an operation is an object
";
    EXTERNAL_REF = "E0304", "A reference leads to something that is not read", "
A document may refer to files in its own folder and below it, and in folders named by `--root` or `Options::root`. A
link counts as its target. Nothing is fetched from the network, and other files are not read, because a document could
make the compiler read what it should not.

An operation with a parameter in such a file is compiled without it, and works if the parameter is optional. One whose
body, or the schema of a parameter, is there is left out (E0303).

Move the file below the folder of the document, or name its folder. If parts of the document are on the network, bundle
them into one file first, for example with `npx @redocly/cli bundle api.yaml`.

    $ref: './schemas/pet.yaml'           is read
    $ref: '../shared/pet.yaml'           needs `--root ../shared`
    $ref: 'https://x.test/pet.yaml'      is not read
";
    MISSING_REF = "W0305", "A reference leads to nothing", "
The document has no value at the place the reference names. An operation whose parameters or body it concerns is left
out (E0303). In a named schema or a result any value is accepted; anything else is left out.

Correct the reference. Names are case-sensitive; in a name, `/` is written `~1` and `~` is written `~0`.

    $ref: '#/components/schemas/pet'     but the schema is called Pet
";
    CYCLIC_REF = "W0306", "A reference leads back to itself", "
Following the reference never arrives at a value: it leads to a reference that leads back to it. It is read as any
value, or left out. A schema that contains itself in a property is not such a cycle, and is fine.

    A: { $ref: '#/components/schemas/B' }
    B: { $ref: '#/components/schemas/A' }
";
    DUPLICATE_NAME = "E0307", "Two operations want the same tool name", "
Names of tools are unique. Operations with the same `operationId` or none are told apart by method and path; these are
the same in all of that, as happens when two paths differ only in how they are written. The second is left out.

Give one of the two an `operationId` of its own, or rename it (`--rename`).
";
    UNKNOWN_VERSION = "W0310", "The version of OpenAPI is not known", "
The document names a version 3 other than 3.0, 3.1 and 3.2. It is compiled by the rules of 3.1; what is new in its
version is not understood.
";
    NO_PATHS = "W0311", "The document has no operations", "
There is no `paths`, so there are no tools. Documents of OpenAPI 3.1 may consist of `webhooks` or `components` alone:
these are not operations to call.
";
    MALFORMED = "W0312", "A part of the document has the wrong form", "
Something is a string where an object is expected, a list where a string is, and so on. The part is left out and the
rest is compiled.

Correct it as the message says; the specification of OpenAPI lists the form of each object.
";
    PARAMETER = "W0313", "A parameter is not usable as it is declared", "
A parameter needs a `name`, an `in` of `path`, `query`, `querystring`, `header` or `cookie`, and a `schema` or a
`content`, and is declared once per operation; Swagger 2.0 also has an `in` of `body` or `formData`, and a `type` of its
own. Headers such as `Content-Length` and `Host` are set by the HTTP client and are not parameters. The message says
what is missing or doubled, and what is done about it.

    parameters:
      - name: limit
        in: query
        schema: { type: integer }
";
    PATH_PARAMETER = "W0314", "A path and its parameters do not match", "
Each `{name}` of a path is a parameter with `in: path` of the same name, and vice versa. A parameter without a place in
the path cannot be sent and is left out; a place without a parameter takes a string. Places in the notation of routers,
`:petId` and `<petId>`, are read as `{petId}`. A parameter of the query that the path itself gives a value
(`/pets?kind=cat`) is left out. An operation whose own path has a `.` or `..` segment is left out, as clients resolve these
and the request would go elsewhere. A `*` behind a place is sent as it is.

    /pets/{petId}:
      parameters:
        - { name: id, in: path }         the path calls it petId
";
    STYLE = "W0315", "A style is not defined for its place", "
OpenAPI defines the `style` that a parameter may have by its place: paths take simple, label and matrix; queries form,
spaceDelimited, pipeDelimited and deepObject; headers simple; cookies form and cookie. The default of the place is used.
";
    BODY = "W0316", "A request body is not fully usable", "
The message says which of these it is: the body has no media type and is left out; no media type can carry its schema,
as a form cannot carry a list; or its media type, such as CSV, is not written from arguments, so the model writes the
text itself. Or the body is XML, and its schema does not name the root element; or a field of a form may be a file or an
object, which cannot be told apart, so no file is sent in it.
";
    SECURITY = "W0317", "A security scheme is not usable", "
An operation asks for a scheme that is not declared under `components/securitySchemes` (in Swagger 2.0
`securityDefinitions`), or is declared in a way that does not say where the credential goes. That alternative of
authentication is left out, so a call may be refused by the server. The same goes for a parameter `Authorization` that
no scheme stands for: a model must not give credentials. If the service needs one all the same, send it as a header of
every request: `HttpEngineBuilder::header`, or `--header NAME=ENV_VAR`. Two schemes of one alternative that take the
same place, such as basic and bearer, cannot both be sent; each is read as an alternative. Nor is a credential sent by
a scheme of HTTP other than basic and bearer, such as digest, which needs more than a header, or as a header that
belongs to the client, such as `Host`.
";
    SERVER = "W0318", "A server is not usable as it is declared", "
A server needs a `url` with a host that exists, and each `{variable}` in it a default under `variables`. What is missing
must be given before a call (`--base-url`, `--server-variable`), and so must a server that takes requests, if all that
there are take WebSockets (`wss://…`), or are of another scheme than http and https. A user name or a password in it is
left out: a credential belongs to a security scheme. In Swagger 2.0 `host`, `basePath` and `schemes` are the server; without `schemes` it is reached by
https.

    servers:
      - url: https://{region}.example.com
        variables: { region: { default: eu } }
";
    SCHEMA = "W0320", "A part of a schema is not understood", "
A keyword has a value it cannot have, such as a `required` that is not a list or a `pattern` that is not a regular
expression. Or a `$dynamicRef` may mean one of several schemas, depending on the path to it. The keyword is left out of
the schema, so more is accepted than the document says; the server decides.
";
    SCHEMA_TYPE = "W0321", "A type is not one of JSON Schema", "
The types are string, number, integer, boolean, object, array and, from OpenAPI 3.1, null. Another word, such as `file`
or `datetime`, is read as the message says.

    type: datetime                       write: string, format: date-time
";
    SCHEMA_DEPTH = "W0322", "A schema is nested too deep", "
Schemas are followed to a limited depth. What is deeper is read as any value: the tool works, but a model does not see
what to send there.

Name inner schemas under `components/schemas` (in Swagger 2.0 `definitions`), and refer to them.
";
    DEFAULT = "N0323", "A default or an example does not fit its schema", "
The default or the example is not a value that the schema itself allows, such as the string \"ten\" for an integer, also
within an object or a list. The model does not see it, since it would send it; a default that the service uses is
mentioned in words.

A string that is the JSON of a valid value is read as that value. Where a list is expected, so are items separated by
commas, and a single item.

    type: array, items: { type: string }, default: 'id,name'       is read as [id, name]
";
    PATTERN = "W0324", "A pattern is not a regular expression", "
Patterns are regular expressions of ECMA-262 (JavaScript). This one does not parse as such, so it is left out: the model
is not held to it, arguments are not checked against it, and the server decides.

Write it without delimiters.

    pattern: '([a-z'                     a bracket is not closed
";
    PATTERN_DIALECT = "W0325", "A pattern is of another dialect", "
Patterns are regular expressions of ECMA-262 (JavaScript). This one uses what only other dialects have, such as flags at
its start (`(?i)`), `\\A`, `\\z` or possessive repetitions, or repeats so much that it cannot be tried. The model sees it in
words; arguments are not checked against it, and the server decides.

    pattern: '(?i)[a-z]+'                write: '[A-Za-z]+'
";
    CONTRADICTION = "W0326", "A schema contradicts itself", "
The values that a schema lists, by `enum` or `const`, are not of the type that its `type` names, such as booleans where
the type is a string: in YAML, `true` and `1.0` are not strings unless quoted. They are read and published as the named
type. In a path, a query, a header or a form either way of writing them is accepted.

    type: string
    enum: [true, false]                  write: ['true', 'false']

Of a list, values that are not lists are those that its items may have:

    type: array
    enum: [asc, desc]                    write: items: {type: string, enum: [asc, desc]}
";
    NAME = "N0332", "An operation has no name that a tool can have", "
Either the operation has no `operationId`, and its tool is named after the method and the path; or it has one that no
provider accepts as the name of a tool, and it is made into one: names have at most 64 letters, digits, `_` and `-`, and
are unique. The name does not depend on the order of the document, nor on filters. `--rename` chooses another one.

    operationId: emails/send             becomes emails_send
";
    MEDIA_TYPE = "N0340", "One of several media types was chosen", "
The body may be sent as one of several media types; a tool sends one. JSON is preferred, then forms, then others; for bytes,
which JSON cannot carry, a form with parts or the bytes themselves.
";
    UNUSUAL_BODY = "N0342", "A method has no defined use for a body", "
HTTP leaves open what the body of a GET, HEAD or TRACE request means, and some servers and proxies drop it. Services
that declare one read it, so it is sent.
";
    PART_OF_DOCUMENT = "N0344", "A reference in a part leads into the document", "
A file that the document refers to has references without a file name, `#/…`, which by rights lead into that very file.
They lead to nothing there but to something in the document, so that is used, as many readers do.

    $ref: '#/components/schemas/Pet'     in schemas/pets.yaml
    $ref: '../api.yaml#/components/schemas/Pet'
";
    NEWER_KEYWORD = "N0343", "A keyword is of another version", "
A document of Swagger 2.0 has a keyword that OpenAPI 3 introduced, such as `requestBody` or `servers`. It is read as it
is meant there, unless Swagger 2.0 keywords say something else about it; other readers may ignore it.

So is `required: true` in the schema of a property, which JSON Schema had until its draft 3: the property must be given.

    properties: {id: {type: string, required: true}}
    properties: {id: {type: string}}, required: [id]
";
    FRAGMENT = "N0345", "The fragment of a path is not sent", "
What follows a `#` outside of braces never reaches a server. Some documents use it to tell apart several operations on
one path; these also send a header or a field that says which one is meant.

    /#X-Amz-Target=Echo                  sends the path / alone
    /tags/%23new                         sends a `#`
";
    EXTERNAL_EXAMPLE = "N0346", "An example is in a place that is not read", "
The value of an example is elsewhere (`externalValue`). It is read like the files of references: from the folder of the
document and below it, and from folders named by `--root` or `Options::root`. Nothing is fetched from the network. An
example that is not read is left out; the tool works without it.

Save the example next to the document, or write it as `value`.

    externalValue: ./examples/pet.json             is read
    externalValue: https://x.test/pet.json         is not
";
    CHOICES = "N0347", "Names of values do not fit the values", "
`x-enum-varnames`, `x-enumNames`, `x-enum-descriptions`, `x-enumDescriptions` and the `values` of `x-ms-enum` name the
values of an `enum`, or say what they mean: one text for each value, in their order, or a map by values. Names have a
letter, and no two are the same. What does not fit is left out, and the values are called by their own names.

    enum: [0, 1]
    x-enum-varnames: [Idle, Running]
";
    OVERLAP = "N0348", "Alternatives of `oneOf` overlap", "
A `oneOf` requires exactly one of its alternatives to fit, but as far as the schemas show, a value may fit several: an
integer and a number, or objects that require different keys and allow others. Services accept such values, so they are
accepted here, and the model sees `anyOf`.

Write `anyOf`, or require a property with another constant in each alternative.

    oneOf: [{type: integer}, {type: number}]       5 fits both
    oneOf: [{type: integer}, {type: string}]       no value fits both
";
    PART_HEADERS = "N0349", "Headers of a part are not sent", "
An `encoding` of a form names `headers` of its part other than `Content-Type`. They are not sent, and do not become
arguments: no service is known to read them.

    encoding: { file: { headers: { X-Checksum: { schema: { type: string } } } } }
";
    NOT_TOOLS = "N0341", "A part of the document does not become tools", "
Webhooks and callbacks are requests the service makes to you. There is nothing in them for a model to call.
";
}
