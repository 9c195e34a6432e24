//! Problems of manifests (04xx).

crate::problem::codes::table! {
    VERSION = "E0401", "The version of the manifest is not supported", "
A manifest starts with `toolgen: 1`, the version of its format. This one names another, whose meaning may differ, so
nothing is compiled.

If the manifest really is of version 1, correct the number. Otherwise use a newer `toolgen`.

    toolgen: 1
";
    UNKNOWN_KEY = "E0402", "A key is not known here", "
Every key of a manifest means something. One that is misspelt, or in the wrong place, would silently have no effect, so
it is an error. Top-level keys that start with `x-` are ignored, and can hold YAML anchors, for example.

    tools:
      count:
        descripton: Counts words.        write: description
";
    WRONG_KIND = "E0403", "A value is of the wrong kind", "
Something is a string where an object is expected, a list where a string is, and so on. In YAML an unquoted `yes` is a
string, `true` a boolean, `5` a number and an empty value nothing at all.

    timeout: 30                          write: timeout: 30s
    category: 2024                       write: category: '2024'
";
    MISSING = "E0404", "A required key or text is missing", "
The key that the message names is required here, or a text that must say something is empty.

    command: {}                          which program? Add `argv`
";
    CHOICE = "E0405", "A value is not one of the allowed ones", "
Only a few words are possible here; the message lists them.

    files: readonly                      write: read
";
    NAME = "E0406", "A name cannot be used", "
Names of tools and arguments go to providers, which accept only some. The name of a tool consists of ASCII letters,
digits, `_` and `-`, starts with a letter and has at most 64 characters, namespace included. That of an argument has
letters, digits and `_`, that of a schema also `.` and `-`.

    tools:
      read.file: {…}                     write: read_file
";
    DUPLICATE_TOOL = "E0407", "Two tools have the same name", "
Names of tools are unique regardless of case: a model does not keep `Read` and `read` apart. An endpoint `weather`
becomes the tool `call_weather`.

Rename one of the two.
";
    UNDOCUMENTED = "E0408", "A description is missing", "
All that a model knows about a tool is its description and those of its arguments. Without them it guesses.

    count_lines:
      description: Counts the lines of a file.
      parameters:
        path: {type: string, path: true, description: 'The file, relative to the work dir.'}

`undocumented: true` turns the check off for a tool, and under `defaults` for all of them.
";
    KIND = "E0409", "A tool is of no kind, or of several", "
Exactly one of these keys says what a tool does:

    command    starts a program             http      sends a request
    function   calls a Rust function        compose   calls other tools
    complete   ends the agent's loop        effect    requests an effect
    agent      gives a task to an agent

Only `complete` may accompany another one: a successful call then also ends the loop.
";
    MEASURE = "E0410", "A duration or a size cannot be read", "
Durations and sizes are whole numbers with a unit: `500ms`, `30s`, `5m`, `1h`; `500B`, `64KiB`, `16MiB`, `1GiB`. A
number alone would leave open what it counts.

    timeout: 30                          write: timeout: 30s
";
    EFFECTS = "E0411", "The stated effects contradict each other or the tool", "
Effects are what policies go by, so they must be true. A tool that is `read_only` is not `destructive`, and one that is
`pure` has no effect; a command starts a program whatever it says; a request goes to the host of its URL, and one by
PUT, PATCH or DELETE is not `read_only`. A program gets the whole network or none, since nothing can hold it to some
hosts.

    http: {url: https://api.example.com/users}
    network: none                        leave it out
    command: {argv: [curl, https://api.example.com/users]}
    network: api.example.com             write: any
";
    UNKNOWN_ARGUMENT = "E0412", "The tool has no argument of this name", "
`requires`, `exactly_one`, `at_most_one` and the resources of `reads` and `writes` name arguments of the tool, as
declared under `parameters`.

    parameters: {path: string - The file.}
    reads: ['file:{file}']               write: file:{path}
";
    RELATION = "E0413", "A rule or a requirement cannot be read", "
`exactly_one` and `at_most_one` list arguments that exclude each other. `requires` lists what must hold before a call,
or arguments that are only given together.

    at_most_one: [before, after]
    requires:
      - before => page
      - session: cart
      - {entity: order, argument: order_id}
";
    SHORT_FORM = "E0414", "The short form of a schema cannot be read", "
A schema may be written as `TYPE[?] [= default] [- description]`. The types are `string`, `integer`, `number`,
`boolean`, `object`, `any`, `enum(a, b)` and the names under `schemas`; `[]` after one makes a list, and `?` says that
the argument may be left out.

    limit: integer? = 10 - The most rows.
    mode: enum(fast, slow) - How to search.
    points: Point[]? - Where.

Everything else is written as JSON Schema.

    size: {type: integer, minimum: 1, description: The size., optional: true}
";
    SCHEMA = "E0415", "A schema is wrong", "
A keyword has a value it cannot have, such as a `minimum` that is a string or a `pattern` that is not a regular
expression. Arguments would be checked less strictly than the manifest says, so the tool is left out.
";
    REFERENCE = "E0416", "A reference leads to nothing", "
A `$ref` names a schema in the same file by its path, or one in a file in the folder of the manifest or below it. Names
are case-sensitive.

    $ref: '#/schemas/Point'
    $ref: 'shared.yaml#/schemas/Point'
";
    FILE = "E0417", "A file cannot be used", "
Only files in the folder of the manifest and below are read, by paths relative to the file that names them. Nothing
above it, no absolute path and nothing from the network is read, and a link counts as its target: otherwise a manifest
would mean something else on another machine, and could read what it should not.
";
    CYCLE = "E0418", "A schema refers to nothing but itself", "
Following the references of the schema never arrives at a type. A schema that contains itself in a property or a list is
fine.

    A: {$ref: '#/schemas/B'}
    B: {$ref: '#/schemas/A'}
";
    DEFAULT = "E0419", "A default does not fit its schema", "
The value that is used when an argument is not given must be one that its schema allows.

    limit: integer = ten                 write: integer = 10
";
    EXAMPLE = "E0420", "An example does not fit the tool", "
A model imitates examples, so each must be a call that the tool accepts.

    parameters: {path: string - The file.}
    examples:
      - {summary: A text., arguments: {file: a.txt}}       write: {path: a.txt}
";
    DIALECT = "E0421", "A provider does not accept the arguments", "
Under `dialects` the tool lists the providers that it must fit, and one of them refuses the schema of its arguments.
";
    PLACEHOLDER = "E0422", "A placeholder cannot be read", "
A placeholder is the name of an argument in braces. Members and items follow after dots, `?` says that the value may be
missing, and `*` stands for each item of a list. A literal brace is doubled. In YAML a string that begins with a brace
needs quotes.

    '{path}'   '{point.x}'   '{files.0}'   '{limit?}'   '{paths*}'
    'awk {{print}}'                      the text awk {print}
";
    UNKNOWN_PLACEHOLDER = "E0423", "A placeholder names no argument", "
Braces hold the name of an argument of the tool, as declared under `parameters`.

    parameters: {path: string - The file.}
    command: {argv: [wc, -l, '{file}']}  write: {path}
";
    OPTIONAL_PLACEHOLDER = "E0424", "A placeholder has no value in some calls", "
The argument is optional and has no default, so a call may come without it. Nothing says what the text would be then.

Write `{name?}`: whatever holds the placeholder – an argument of a program, a query parameter, a member of an object –
is left out if there is no value. Or make the argument required, or give it a default.

    parameters: {limit: integer? - The most rows.}
    command: {argv: [list, [--limit, '{limit?}']]}
";
    PLACEHOLDER_PATH = "E0425", "A placeholder leads nowhere", "
The path after the name follows the schema of the argument: members of objects by their names, items of lists by their
indices from 0.

    parameters: {point: Point - Where.}
    text: '{point.z}'                    but a Point has only x and y
";
    PLACEHOLDER_KIND = "E0426", "A value is of the wrong kind for its place", "
`*` stands for the items of a list, and must be all of an argument of a program. A condition that is a placeholder must
be a boolean.

    argv: [cat, '{path*}']               but path is a string: write {path}
";
    INLINE_JSON = "W0427", "A list or an object becomes part of a text", "
Its JSON is put into the text. That is rarely intended outside a body or a data field.

Name a member or an item. For all items, write `{names*}` alone in `argv` (one argument per item), or give the list to a
request under `query` (one pair per item).
";
    UNUSED_ARGUMENT = "W0428", "An argument is never used", "
A model would fill in an argument that makes no difference, and believe that it does.

Use it in a placeholder, or remove it.
";
    COMMAND = "E0429", "A command does not say what to start", "
A command has `argv`, a list of the program and its arguments, or, with `shell: true`, a `script`. The program is a
constant: if a model could choose it, the tool would be a shell.

    argv: [wc, -l, --, '{path}']
";
    SHELL_WORD = "W0430", "An argument only means something to a shell", "
`argv` starts a program directly. No shell reads it, unless the program is one: `|` or `>` is plain text there. That is
why no argument can break out of it.

    shell: true
    script: grep \"$1\" notes.txt | sort
    args: ['{word}']
";
    SCRIPT = "E0431", "Code contains a placeholder", "
A shell would read the value as code: a model, or a text it read, could run anything. Values go to a script as variables
of its environment or as positional parameters, and are used in double quotes. The same holds for code in `argv`, after
`sh -c`, `python -c` or `perl -e`, for programs of `awk` and `sed`, for settings of `git -c`, and for what `ssh`, `watch`
or `parallel` give to a shell, and for the program that `env`, `sudo`, `xargs` or `docker exec` starts. A target of
`make` may be a setting that its recipes run. Of a program that is not known, an argument after `-c`, `-e`, `--command` or `--eval`
counts as code, too. Numbers and booleans are allowed there.

    shell: true
    script: grep \"$PATTERN\" \"$1\"
    env: {PATTERN: '{pattern}'}
    args: ['{path}']

If a model is meant to write the code, a placeholder is all of it, and the manifest says so. It also says so if a
program that is not known takes data there.

    argv: [bash, -c, {arg: '{command}', code: true}]
    argv: [build-docs, -c, {arg: '{config}', code: false}]
";
    VARIABLE = "E0432", "An environment variable cannot be used", "
Names of variables have letters, digits and `_`. Variables that decide which code a program runs, such as PATH,
LD_PRELOAD or GIT_SSH_COMMAND, may be set to a constant, but not to an argument. Others may if the command mentions
them, as in a script with `$PATTERN`, or if the manifest says that their value is only data to the program.

    argv: [weather, --today]
    env: {WEATHER_CITY: {arg: '{city}', code: false}}
";
    EXIT_CODE = "E0433", "An exit code cannot be read", "
Exit codes are numbers from 0 to 255; a program ended by a signal has 128 plus the number of the signal. `other` stands
for all that are neither 0 nor listed.

    exit_codes:
      1: {success: true, message: No matches.}
      2: The file cannot be read.
";
    METHOD = "E0434", "An HTTP method is not supported", "
A request is sent by GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS. Without `method` it is GET, or POST with a body.
";
    URL = "E0435", "A URL cannot be used", "
The URL of a request is complete: `https` or `http`, a host, a path and perhaps a query. Placeholders stand in the path
and in the values of the query. A credential belongs in `auth`, and a fragment is never sent.

    url: https://api.example.com/users/{id}?page={page?}
";
    URL_HOST = "E0436", "The host of a URL is not a constant", "
If an argument chose the host, a model could send the request, with its credential, to any machine. The host is also
what policies compare with the hosts that they allow.
";
    HEADER = "E0437", "A header cannot be sent", "
Credentials are given by `auth` and headers of the connection by the HTTP client. `Accept` and the `Content-Type` of a
text body are constants; those of other bodies follow from the body.
";
    BODY = "E0438", "A request cannot have this body", "
A request has one of `body` (JSON), `form` and `text`, and none with the methods GET, HEAD and OPTIONS. With POST, PUT
and PATCH and none of the three, the body is a JSON object of the arguments that are used nowhere else.

A `text` of JSON or a form has no placeholders within it: nothing would encode their values, so a quotation mark
in one could end a string and add members.

    text: '{\"user\": \"{name}\"}'         write: body: {user: '{name}'}
";
    AUTH = "E0439", "The authentication is incomplete", "
`auth` says where the credential goes and which environment variable holds it. The credential itself never stands in a
manifest.

    auth: {bearer: GITHUB_TOKEN}
    auth: {basic: MAIL_LOGIN}            the variable holds user:password
    auth: {header: X-Api-Key, env: API_KEY}
    auth: {query: key, env: API_KEY}
";
    AGENT = "E0440", "An agent cannot be set up like this", "
An agent takes one argument, `task`, and works on it with the tools that it lists by name: tools of this manifest or of
its imports. None of them may be an agent, so that agents cannot start one another without end.
";
    STEP = "E0441", "A step of a composed tool cannot run", "
A step calls a tool of the manifest or of one of its imports, and has a name of its own (`id`). Steps run in their
order, so a step can refer to the results of earlier ones only, as `{steps.ID}`, and to the item of its list as
`{item}`.

    compose:
      steps:
        - {id: find, call: find_files, with: {pattern: '*.rs'}}
        - {id: count, call: count_lines, for_each: '{steps.find.files}', with: {path: '{item}'}}
";
    STEP_ARGUMENT = "E0442", "A step does not give a tool the arguments that it takes", "
The arguments under `with` are checked against the tool that the step calls, as a call of a model would be: every
required argument is given, there are none that the tool does not have, and each has the right type. A placeholder that
is the whole value keeps its type; within a longer text it becomes text.

    with: {limit: 'ten'}                 write: limit: 10
    with: {limit: '{count} '}            write: limit: '{count}'
";
    CALL_CYCLE = "E0443", "A composed tool would call itself", "
The steps of a tool lead back to the tool, so a call would never end. None of the tools on the cycle is compiled.
";
    IMPORT = "E0444", "A document cannot be imported", "
The document is not there, is of another kind than the import says, or has an error that leaves nothing of it, which is
reported where it is. A manifest cannot import one that imports it. None of its tools is compiled.

    imports:
      - openapi: petstore.yaml
";
    IMPORT_CHOICE = "E0445", "A filter of an import selects nothing", "
A filter of the import matches no operation of the document. Were it an exclusion, the operation that is meant would
become a tool that a model may call, so nothing of the import is compiled. Ids and paths are case-sensitive.

    exclude: ['DELTE /pets/**']          but the method is called DELETE
";
    IMPORT_OPTION = "W0446", "An option of an import has no effect", "
A filter, a renaming or a credential of the import is for something that the document does not have, usually because of
a typo.
";
    MCP_IMPORT = "E0447", "An MCP server cannot be imported like this", "
The tools of a server come from its lock, so that a model sees what a person has read. The import says how the server is
reached, either by `server` or by `url`, and the lock must have been made the same way: a list of tools depends on the
command, the URL and the environment.

    imports:
      - mcp: {alias: shop, server: [npx, -y, shop-server@1.2.3], lock: shop.lock.json}

Write the lock with `cargo toolgen mcp lock tools.yaml`.
";
    OVERRIDE = "E0448", "An override is for a tool that is not imported", "
The names under `overrides` are those that the imported tools get, with their namespace. One that is for no tool would
silently have no effect.
";
    COLLISION = "E0449", "Two parts of a program have the same name", "
A tool, a toolset or a context of an import has the name of another one. Names that differ only in case are the same to
a model. The later one is left out.

Give the import a `namespace`, rename what it brings, or leave it out with `exclude`.
";
    MEMBER = "E0450", "A member of a toolset cannot be used", "
A toolset names tools of the manifest and of its imports, each once, by name or by a pattern with `*`. A pattern that
matches no tool is usually a typo. Agents are named as `{agent: NAME}`.

    tools: [shell, 'read_*', {agent: reviewer}]
";
    TOOLSET = "E0451", "A toolset cannot be made", "
A toolset may include other existing toolsets, but not itself. Its context, if any, is one of the manifest or of its
imports, and it has at least one tool.
";
    CONTEXT = "E0452", "A context cannot be set up like this", "
The working directory of a context is relative to that of the program's own context, and does not lead up from it; or it
is an absolute path.

    contexts:
      planning: {read_only: true, network: false, workdir: plans, scopes: [read], timeout: 30s}
";
    STEP_LOOSER = "W0453", "A step passes on texts that its tool forbids", "
The tool that a step calls forbids texts, by `path: true` or `deny_pattern`, and the composed tool passes on what a model
gives without forbidding them. The call is refused all the same, but only when the step runs, perhaps after others, and
nothing told the model before. Give the argument of the composed tool the same rule.

    files: {type: array, items: string, path: true, description: The files to read.}
";
    SENT_TWICE = "E0454", "A request gives one name two values", "
Two places of a request send a query parameter, a header or a cookie of the same name. A service reads one of them, or
both, or refuses the request. The places are the URL, `query`, `headers`, the cookies within the header `Cookie`, and
`auth`; names of headers are compared without case. The query of a URL may repeat a name: that is a list.

    url: https://api.example.com/items?limit=5     and query: {limit: '{limit}'}
    headers: {X-Team: a, x-team: '{team}'}
";
    DOLLAR = "W0455", "A placeholder stands behind a `$`", "
In shells and other formats, `${name}` is a variable. In a manifest, `{name}` is the placeholder, and the `$` before it is
sent as it is. Before a number in a longer text (`costs ${price}`) it is taken for a currency.

    url: https://api.example.com/plans/${plan}     write /plans/{plan}
";
    STARTER = "W0460", "A value may be an option of a program that another one starts", "
A value at the start of an argument may not begin with `-`, since it would be read as an option; after `--` it may. But
a program that starts another one, such as `env`, `xargs`, `sh`, `npx` or `docker run`, takes `--` for itself, and what
follows is the other program with its options: a value there may be one of them, or even choose the program.

Leave `--` out where it is not needed, or write the started program and a `--` of its own before the values.

    argv: [cargo, test, --, '{filter}']            write: [cargo, test, '{filter}']
    argv: [docker, run, app, --, wc, '{file}']     write: [docker, run, app, wc, --, '{file}']
";
}
