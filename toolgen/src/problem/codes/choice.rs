//! Problems of selection: of a front end for a document, and of its tools by the options (03xx).

super::table! {
    UNKNOWN_KIND = "E0301", "This is not a document of a known kind", "
The document is readable, but no front end recognizes it. Nothing is compiled. A front end recognizes its documents by
their top-level keys: an OpenAPI document is an object with `openapi: 3.…` or `swagger: '2.0'`, a tool manifest one with
`toolgen: 1`.

Documents of Swagger 1 (`swaggerVersion`) and of OpenAPI 4 or later are unknown to this version.

    swaggerVersion: '1.2'                convert it to OpenAPI 3 first
    openapi: 3.0.3                       this is compiled
";
    TWO_KINDS = "E0308", "This is a document of two kinds", "
The document has the marks of two kinds of documents, which mean different things, so nothing is compiled: its
meaning must not depend on the order in which front ends are tried.

Remove the mark of the wrong kind.
";
    SELECTOR = "W0330", "A filter matches nothing", "
A filter of the compiler matches no operation of the document, usually because of a typo. Ids and paths are
case-sensitive. `cargo toolgen list` shows the operations. An exclusion that matches nothing is an error, E0335.

Or the lever `optional=` names an argument to keep that no tool has: any word except `keep` and `drop` is a name, so a
typo drops all optional arguments.

    --slim optional=dorp                 but the word is `drop`
";
    RENAME = "W0331", "A rename has no effect", "
No operation has the old name, or the new name is not a valid tool name: a letter, then letters, digits, `_` and `-`, at
most 64 characters.
";
    NO_TOOLS = "E0333", "A filter matches nothing, and no tools are left", "
A filter of the compiler matches no operation of the document, and neither do the other filters, so there is nothing to
compile. Ids and paths are case-sensitive. `cargo toolgen list` shows the operations.

    --tag Almubs                         but the tag is Albums
";
    CREDENTIAL = "W0334", "A credential matches no scheme of the document", "
A credential passed to the compiler names a security scheme that the document does not declare, so no request will
send it. Names of schemes are case-sensitive.

    --auth petstore_ouath=TOKEN          but the scheme is petstore_oauth
";
    NO_VARIABLE = "E0339", "A credential does not name an environment variable", "
`Options::credential` takes the name of the variable that holds a credential when a call is made. This is not
written like a variable name, so it may be the credential itself, which would be readable in the compiled program.

    Options::default().credential(\"api_key\", \"PETSTORE_KEY\")
";
    EXCLUSION = "E0335", "An exclusion matches nothing", "
An exclusion matches no operation of the document. The intended operation would become a tool that a model can call, so
nothing is compiled. Ids and paths are case-sensitive. `cargo toolgen list` shows the operations; remove an exclusion
whose operation no longer exists. If several documents are compiled together, an exclusion must match an operation of at
least one.

    --exclude 'DELTE /pets/**'           but the method is DELETE
";
    LEVEL = "W0336", "A level names the code of an error", "
A level (`--allow`, `--warn`, `Options::allow` and similar options, `lints` in a manifest) names the code of an error,
which cannot be allowed: something is omitted where it is reported.

    --allow E0303                        stays an error
";
    PAGINATION = "W0337", "A pagination setting has no effect", "
A value of `--pagination` or `Options::pagination` matches no operation that becomes a tool, or is invalid. On the
command line it is `SELECTOR=WAY`, which declares how to request the next page, and the pointers into the response.

    link                                          the header `Link`
    next=/links/next items=/data                  the URL at this pointer
    cursor=after@/meta/after items=/results       this argument, with the value at this pointer
    last=starting_after@/id items=/data           this argument, with this part of the last item
    page=page items=/items                        the page number; `page=page@0` if the first page is 0
    offset=skip items=/items                      the number of items before the page
    none                                          no pagination

`more=/has_more` adds the pointer to whether more pages follow (`more=!/last`: whether this is the last one),
`total=/total_count` the pointer to the number of items in the whole list, and `size=limit` the argument that limits the
items of a page. Without `items`, the response itself is the list.
";
    NO_CODE = "E0338", "A level names no known code", "
A level (`Options::deny` and similar options, `lints` in a manifest) names neither a code nor `warnings`. Problems that
should be denied would pass, so this is an error, and a build fails. The options of the command line (`--allow`,
`--warn`, `--deny`) are rejected before anything is compiled. `cargo toolgen explain` lists the codes.

    Options::default().deny(\"warnngs\")  write warnings
    --allow N706                         but the code is N0706
";
    FIX = "E0350", "No tool has the argument to fix or omit", "
A value of `--fix` or `--omit`, of `Options::fix` or `Options::omit`, or of `fix` or `omit` of an import names an
argument that no tool has, or only tools that send no request. A model would see the intended argument and could set it,
so nothing is compiled. Name the argument as the tool or the document does; `*` matches any characters. If several
documents are compiled together, at least one of them must have it.

    --fix api_versoin=2026-01-01         but the argument is api_version
";
    UNFIT_FIX = "E0351", "An argument cannot be fixed or omitted", "
The schema of the argument does not allow the fixed value, or an omitted argument is required. Or the name is that of a
field of the body, and the whole body is one argument with several variants, or with rules between its fields, so the
model could still set the field. The operation does not become a tool.

Use a value that the schema allows, fix the value of a required argument, or exclude the operation. To limit the rule to
some operations, name them: `--fix 'tag:pets limit=20'`.
";
}

/// The codes of problems in the options rather than the document.
pub(super) const OF_OPTIONS: &[super::Code] =
    &[SELECTOR, RENAME, NO_TOOLS, CREDENTIAL, NO_VARIABLE, EXCLUSION, LEVEL, PAGINATION, NO_CODE, FIX];
