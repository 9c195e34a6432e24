//! Problems of manifests (04xx).

crate::problem::codes::table! {
    VERSION = "E0401", "The version of the manifest is not supported", "
A manifest starts with `toolgen: 1`, the version of its format. This one names another, whose meaning may differ, so
nothing is compiled.

If the manifest really is of version 1, correct the number. Otherwise use a newer `toolgen`.

    toolgen: 1
";
    UNKNOWN_KEY = "E0402", "A key is unknown here", "
Every key of a manifest has an effect. A misspelt key, or one in the wrong place, would be ignored silently, so it is an
error. Top-level keys that start with `x-` are ignored, and can hold YAML anchors, for example.

    tools:
      count:
        descripton: Counts words.        write: description
";
    WRONG_KIND = "E0403", "A value has the wrong type", "
The value is a string where an object is expected, an array where a string is expected, and so on. In YAML, an unquoted
`yes` is a string, `true` a boolean, `5` a number, and an empty value is `null`.

    timeout: 30                          write: timeout: 30s
    category: 2024                       write: category: '2024'
";
    MISSING = "E0404", "A required key or string is missing", "
The key that the message names is required here, or a string that must not be empty is empty.

    command: {}                          which program? Add `argv`
";
    CHOICE = "E0405", "A value is not one of the allowed ones", "
Only the values that the message lists are allowed here.

    files: readonly                      write: read
";
    NAME = "E0406", "A name cannot be used", "
Names of tools and arguments are sent to providers, which restrict them. The name of a tool consists of ASCII letters,
digits, `_` and `-`, starts with a letter and has at most 64 characters, namespace included. That of an argument has
letters, digits and `_`, that of a schema also `.` and `-`.

    tools:
      read.file: {…}                     write: read_file
";
    DUPLICATE_TOOL = "E0407", "Two tools have the same name", "
Names of tools must be unique regardless of case: a model does not distinguish `Read` and `read`. An endpoint `weather`
becomes the tool `call_weather`.

Rename one of the two.
";
    UNDOCUMENTED = "E0408", "A description is missing", "
A model knows a tool only by its description and those of its arguments. Without them it guesses.

    count_lines:
      description: Counts the lines of a file.
      parameters:
        path: {type: string, path: true, description: 'The file, relative to the work dir.'}

`undocumented: true` disables the check for a tool; under `defaults`, for all tools.
";
    KIND = "E0409", "A tool has no kind, or several", "
Exactly one of these keys determines what a tool does:

    command    starts a program             http      sends a request
    function   calls a Rust function        compose   calls other tools
    complete   ends the agent's loop        effect    requests an effect
    agent      gives a task to an agent

Only `complete` can be combined with another one: a successful call then also ends the loop.
";
    MEASURE = "E0410", "A duration or a size cannot be read", "
Durations and sizes are integers with a unit: `500ms`, `30s`, `5m`, `1h`; `500B`, `64KiB`, `16MiB`, `1GiB`. A number
alone would be ambiguous.

    timeout: 30                          write: timeout: 30s
";
    EFFECTS = "E0411", "The stated effects contradict each other or the tool", "
Policies rely on the effects, so they must be true. A `read_only` tool is not `destructive`, and a `pure` tool has no
effect. A command always starts a program. A request always connects to the host of its URL, and a PUT, PATCH or DELETE
request is not `read_only`. A program gets network access to all hosts or to none, since access to single hosts cannot
be enforced.

    http: {url: https://api.example.com/users}
    network: none                        omit it
    command: {argv: [curl, https://api.example.com/users]}
    network: api.example.com             write: any
";
    UNKNOWN_ARGUMENT = "E0412", "The tool has no argument of this name", "
`requires`, `exactly_one`, `at_most_one` and the resources of `reads` and `writes` must name arguments of the
tool, as declared under `parameters`.

    parameters: {path: string - The file.}
    reads: ['file:{file}']               write: file:{path}
";
    RELATION = "E0413", "A rule or a requirement cannot be read", "
`exactly_one` and `at_most_one` list arguments that exclude each other. `requires` lists conditions of a call, or
arguments that must be set together.

    at_most_one: [before, after]
    requires:
      - before => page
      - session: cart
      - {entity: order, argument: order_id}
";
    SHORT_FORM = "E0414", "The short form of a schema cannot be read", "
A schema may be written as `TYPE[?] [= default] [- description]`. The types are `string`, `integer`, `number`,
`boolean`, `object`, `any`, `enum(a, b)` and the names under `schemas`; `[]` after a type makes an array, and `?`
makes the argument optional.

    limit: integer? = 10 - Maximum number of rows.
    mode: enum(fast, slow) - How to search.
    points: Point[]? - Where.

Everything else is written as JSON Schema.

    size: {type: integer, minimum: 1, description: The size., optional: true}
";
    SCHEMA = "E0415", "A schema is invalid", "
A keyword has an invalid value, such as a `minimum` that is a string or a `pattern` that is not a regular
expression. Arguments would be checked less strictly than the manifest declares, so the tool is omitted.
";
    REFERENCE = "E0416", "A reference does not resolve", "
A `$ref` names a schema in the same file by its path, or a schema in a file in or below the manifest's directory. Names
are case-sensitive.

    $ref: '#/schemas/Point'
    $ref: 'shared.yaml#/schemas/Point'
";
    FILE = "E0417", "A file cannot be used", "
Only files in and below the manifest's directory are read, by paths relative to the file that names them. Paths outside
of that directory, absolute paths and URLs are not read, and a link counts as its target. Otherwise the meaning of a
manifest would depend on the machine, and a manifest could read files that it should not.
";
    CYCLE = "E0418", "A schema refers only to itself", "
The references of the schema never resolve to a type. A schema that contains itself in a property or an array is valid.

    A: {$ref: '#/schemas/B'}
    B: {$ref: '#/schemas/A'}
";
    DEFAULT = "E0419", "A default does not match its schema", "
The default of an argument must be valid under the schema of the argument.

    limit: integer = ten                 write: integer = 10
";
    EXAMPLE = "E0420", "An example does not match the tool", "
A model imitates examples, so each must be a call that the tool accepts.

    parameters: {path: string - The file.}
    examples:
      - {summary: A text., arguments: {file: a.txt}}       write: {path: a.txt}
";
    DIALECT = "E0421", "A provider does not accept the arguments", "
Under `dialects`, the tool lists the dialects that must express it, and one of them rejects the schema of its arguments.
";
    PLACEHOLDER = "E0422", "A placeholder cannot be read", "
A placeholder is the name of an argument in braces. Members and items follow after dots, `?` means that the value may be
missing, and `*` is replaced by each item of an array. A literal brace is doubled. In YAML, a string that begins with a
brace needs quotes.

    '{path}'   '{point.x}'   '{files.0}'   '{limit?}'   '{paths*}'
    'awk {{print}}'                      the string awk {print}
";
    UNKNOWN_PLACEHOLDER = "E0423", "A placeholder names no argument", "
Braces contain the name of an argument of the tool, as declared under `parameters`.

    parameters: {path: string - The file.}
    command: {argv: [wc, -l, '{file}']}  write: {path}
";
    OPTIONAL_PLACEHOLDER = "E0424", "A placeholder has no value in some calls", "
The argument is optional and has no default, so a call may omit it. The string would then be undefined.

Write `{name?}`: the element that contains the placeholder – an argument of a program, a query parameter, a member of an
object – is then omitted if there is no value. Or make the argument required, or give it a default.

    parameters: {limit: integer? - Maximum number of rows.}
    command: {argv: [list, [--limit, '{limit?}']]}
";
    PLACEHOLDER_PATH = "E0425", "A placeholder does not resolve", "
The path after the name follows the schema of the argument: members of objects by their names, items of arrays by their
indices from 0.

    parameters: {point: Point - Where.}
    text: '{point.z}'                    but a Point has only x and y
";
    PLACEHOLDER_KIND = "E0426", "A value has the wrong type for its position", "
`*` is replaced by the items of an array, and must be a complete argument of a program. A condition that is a
placeholder must be a boolean.

    argv: [cat, '{path*}']               but path is a string: write {path}
";
    INLINE_JSON = "W0427", "An array or an object becomes part of a string", "
Its JSON is inserted into the string. That is rarely intended outside a body or a data field.

Name a member or an item. For all items, write `{names*}` alone in `argv` (one argument per item), or pass the array
to a request under `query` (one pair per item).
";
    UNUSED_ARGUMENT = "W0428", "An argument is never used", "
A model would set an argument that has no effect, and assume that it has one.

Use it in a placeholder, or remove it.
";
    COMMAND = "E0429", "A command does not say what to start", "
A command has `argv`, an array of the program and its arguments, or, with `shell: true`, a `script`. The program is a
constant: if a model could choose it, the tool would be a shell.

    argv: [wc, -l, --, '{path}']
";
    SHELL_WORD = "W0430", "An argument only has a meaning in a shell", "
`argv` starts a program directly. No shell reads it, unless the program is a shell: `|` or `>` is plain text there. This
prevents injection through arguments.

    shell: true
    script: grep \"$1\" notes.txt | sort
    args: ['{word}']
";
    SCRIPT = "E0431", "Code contains a placeholder", "
A shell would read the value as code: a model, or content that it read, could run anything. Pass values to a script as
environment variables or as positional parameters, and use them in double quotes. The same applies to code in `argv`:
after `sh -c`, `python -c` or `perl -e`, programs of `awk` and `sed`, settings of `git -c`, commands that `ssh`, `watch`
or `parallel` pass to a shell, and the program that `env`, `sudo`, `xargs` or `docker exec` starts. A target of `make`
can be a setting that its recipes run. If a program is unknown, an argument after `-c`, `-e`, `--command` or `--eval`
also counts as code. Numbers and booleans are allowed there.

    shell: true
    script: grep \"$PATTERN\" \"$1\"
    env: {PATTERN: '{pattern}'}
    args: ['{path}']

If the model is meant to write the code, write a placeholder for all of it, and declare it with `code: true`. If an
unknown program takes data there, declare it with `code: false`.

    argv: [bash, -c, {arg: '{command}', code: true}]
    argv: [build-docs, -c, {arg: '{config}', code: false}]
";
    VARIABLE = "E0432", "An environment variable cannot be used", "
Names of variables have letters, digits and `_`. Variables that determine which code a program runs, such as PATH,
LD_PRELOAD or GIT_SSH_COMMAND, can be set to a constant, but not to an argument. Other variables can be set to an
argument if the command mentions them, as in a script with `$PATTERN`, or if the manifest declares that their value is
only data to the program.

    argv: [weather, --today]
    env: {WEATHER_CITY: {arg: '{city}', code: false}}
";
    EXIT_CODE = "E0433", "An exit code cannot be read", "
Exit codes are numbers from 0 to 255; a program that a signal ended has 128 plus the number of the signal. `other`
matches all codes that are neither 0 nor listed.

    exit_codes:
      1: {success: true, message: No matches.}
      2: The file cannot be read.
";
    METHOD = "E0434", "An HTTP method is not supported", "
A request is sent by GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS. Without `method` it is GET, or POST with a body.
";
    URL = "E0435", "A URL cannot be used", "
The URL of a request is complete: `https` or `http`, a host, a path and optionally a query. Placeholders are allowed in
the path and in the values of the query. A credential belongs in `auth`, and a fragment is never sent.

    url: https://api.example.com/users/{id}?page={page?}
";
    URL_HOST = "E0436", "The host of a URL is not a constant", "
If an argument set the host, a model could send the request, with its credential, to any machine. Policies also compare
the host with their allowed hosts.
";
    HEADER = "E0437", "A header cannot be sent", "
Credentials are set by `auth`, and connection headers by the HTTP client. `Accept` and the `Content-Type` of a text body
must be constants; the `Content-Type` of other bodies follows from the body.
";
    BODY = "E0438", "A request cannot have this body", "
A request has one of `body` (JSON), `form` and `text`, and none with the methods GET, HEAD and OPTIONS. With POST, PUT
and PATCH and none of the three, the body is a JSON object of the arguments that nothing else uses.

A `text` of JSON or a form cannot contain placeholders: their values would not be encoded, so a quotation mark in a
value could end a string and add members.

    text: '{\"user\": \"{name}\"}'         write: body: {user: '{name}'}
";
    AUTH = "E0439", "The authentication is incomplete", "
`auth` declares where the credential is sent and which environment variable holds it. The credential itself must not be
in a manifest.

    auth: {bearer: GITHUB_TOKEN}
    auth: {basic: MAIL_LOGIN}            the variable holds user:password
    auth: {header: X-Api-Key, env: API_KEY}
    auth: {query: key, env: API_KEY}
";
    AGENT = "E0440", "An agent is not valid", "
An agent takes one argument, `task`, and works on it with the tools that it lists by name: tools of this manifest or of
its imports. None of them can be an agent, so that agents do not start one another endlessly.
";
    STEP = "E0441", "A step of a composed tool cannot run", "
A step calls a tool of the manifest or of one of its imports, and has a unique name (`id`). Steps run in order, so
a step can only refer to the results of earlier steps, as `{steps.ID}`, and to the current item of its array, as
`{item}`.

    compose:
      steps:
        - {id: find, call: find_files, with: {pattern: '*.rs'}}
        - {id: count, call: count_lines, for_each: '{steps.find.files}', with: {path: '{item}'}}
";
    STEP_ARGUMENT = "E0442", "The arguments of a step do not match the tool", "
The arguments under `with` are checked against the tool that the step calls, like a call of a model: all required
arguments are set, all arguments exist, and each has the right type. A placeholder that is the whole value keeps its
type; within a longer string it becomes a string.

    with: {limit: 'ten'}                 write: limit: 10
    with: {limit: '{count} '}            write: limit: '{count}'
";
    CALL_CYCLE = "E0443", "A composed tool would call itself", "
The steps of a tool call the tool again, directly or indirectly, so a call would never end. None of the tools on the
cycle is compiled.
";
    IMPORT = "E0444", "A document cannot be imported", "
The document does not exist, is of another kind than the import declares, or has an error that prevents its compilation,
which is reported in the document. A manifest cannot import a manifest that imports it. None of its tools is compiled.

    imports:
      - openapi: petstore.yaml
";
    IMPORT_CHOICE = "E0445", "A filter of an import matches nothing", "
A filter of the import matches no operation of the document. If it is an exclusion, the intended operation would become
a tool that a model can call, so nothing of the import is compiled. Ids and paths are case-sensitive.

    exclude: ['DELTE /pets/**']          but the method is DELETE
";
    IMPORT_OPTION = "W0446", "An option of an import has no effect", "
A filter, a rename or a credential of the import matches nothing in the document, usually because of a typo.
";
    MCP_IMPORT = "E0447", "An MCP server cannot be imported", "
The tools of a server come from its lock, so that a model sees descriptions that a person has reviewed. The import
declares the connection to the server, either by `server` or by `url`, and the lock must have been made with the same
connection: a list of tools depends on the command, the URL and the environment.

    imports:
      - mcp: {alias: shop, server: [npx, -y, shop-server@1.2.3], lock: shop.lock.json}

Write the lock with `cargo toolgen mcp lock tools.yaml`.
";
    OVERRIDE = "E0448", "An override names a tool that is not imported", "
The names under `overrides` are those of the imported tools, with their namespace. A name that matches no tool would be
ignored silently.
";
    COLLISION = "E0449", "Two parts of a program have the same name", "
A tool, a toolset or a context of an import has the name of another one. Names that differ only in case are the same to
a model. The later one is omitted.

Give the import a `namespace`, rename its tools, or drop them with `exclude`.
";
    MEMBER = "E0450", "A member of a toolset cannot be used", "
A toolset names tools of the manifest and of its imports, each once, by name or by a pattern with `*`. A pattern that
matches no tool is usually a typo. Agents are named as `{agent: NAME}`.

    tools: [shell, 'read_*', {agent: reviewer}]
";
    TOOLSET = "E0451", "A toolset is not valid", "
A toolset can include other existing toolsets, but not itself. Its context, if any, must exist in the manifest or in its
imports, and it must have at least one tool.
";
    CONTEXT = "E0452", "A context is not valid", "
The working directory of a context is relative to that of the program's own context and below it, or it is an absolute
path.

    contexts:
      planning: {read_only: true, network: false, workdir: plans, scopes: [read], timeout: 30s}
";
    STEP_LOOSER = "W0453", "A step passes strings that its tool denies", "
The tool that a step calls denies some strings, by `path: true` or `deny_pattern`, and the composed tool passes the
values of a model without the same rule. The call is still rejected, but only when the step runs, possibly after others,
and the model could not know the rule. Give the argument of the composed tool the same rule.

    files: {type: array, items: string, path: true, description: The files to read.}
";
    SENT_TWICE = "E0454", "A request sets one name twice", "
Two parts of a request send a query parameter, a header or a cookie of the same name. A service reads one of them, or
both, or rejects the request. The parts are the URL, `query`, `headers`, the cookies in the header `Cookie`, and `auth`;
names of headers are compared without case. The query of a URL may repeat a name: that is an array.

    url: https://api.example.com/items?limit=5     and query: {limit: '{limit}'}
    headers: {X-Team: a, x-team: '{team}'}
";
    DOLLAR = "W0455", "A placeholder follows a `$`", "
In shells and other formats, `${name}` is a variable. In a manifest, `{name}` is the placeholder, and the `$` before it
is sent literally. Before a number in a longer string (`costs ${price}`) it is treated as a currency.

    url: https://api.example.com/plans/${plan}     write /plans/{plan}
";
    RULE = "E0456", "A rule cannot be read", "
A rule denies calls of tools, asks for an approval, or limits their rate. It is one line, or an object. Tools are
selected by name (`get_*`), `category:…` or `effect:…`, and at least one must match. There is no `allow`: the most
restrictive rule decides, and an exception is a part of its condition.

    rules:
      - deny pay when args.amount > 5000
      - {rate: pay, limit: 10, per: 1m, when: args.amount > 100, reason: Large payments are limited.}
";
    RULE_CONDITION = "E0457", "The condition of a rule does not fit a tool", "
A condition is checked against the schema of each tool that its rule selects. It names an argument that the tool does
not have, compares values of different types, or uses a value that may be absent or `null`. At run time it would have no
value, and the rule would apply to every call.

    deny: pay
    when: args.note.contains('refund')            write: has(args.note) && args.note.contains('refund')
";
    RULE_NEVER = "W0458", "No call matches a rule", "
The condition contradicts itself, or the schema of the arguments: with `amount` from 0 to 10000, none of these calls is
valid. The rule has no effect, although its author expected one.

    deny pay when args.amount > 20000
    deny pay when args.amount > 10 && args.amount < 5
";
    RULE_SHADOWED = "W0459", "Other rules decide all calls of a rule", "
Every call that the rule matches is already denied by another rule, or is asked about by an earlier one. The rule has no
effect.

    deny pay when args.amount > 1000
    ask pay when args.amount > 5000               denied above
";
    STARTER = "W0460", "A value may be an option of a program that another one starts", "
A value at the start of an argument must not begin with `-`, since it would be read as an option; after `--` it can. But
a program that starts another one, such as `env`, `xargs`, `sh`, `npx` or `docker run`, consumes `--` itself, and the
other program with its options follows: a value there may be one of these options, or even choose the program.

Remove `--` where it is not needed, or write the started program and a second `--` before the values.

    argv: [cargo, test, --, '{filter}']            write: [cargo, test, '{filter}']
    argv: [docker, run, app, --, wc, '{file}']     write: [docker, run, app, wc, --, '{file}']
";
    RULE_CONTRADICTION = "W0461", "Two rules decide differently about the same calls", "
Two rules match exactly the same calls, and one of them denies what the other only asks about or limits. The denial
decides, so the other rule has no effect. One of the two is probably wrong.

    deny pay when args.amount > 1000
    ask pay when args.amount > 1000
";
}
