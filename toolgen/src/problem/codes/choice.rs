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
The document has the marks of two kinds of documents, which mean different things, so nothing is compiled: what it
becomes must not depend on which of them is looked for first.

Remove the mark of the kind that is not meant.
";
    SELECTOR = "W0330", "A filter selects nothing", "
A filter given to the compiler matches no operation of the document, usually because of a typo. Ids and paths are
case-sensitive. `cargo toolgen list` shows what there is. An exclusion that selects nothing is an error, E0335.

Or the lever `optional=` is to keep an argument that no tool has: any word but `keep` and `drop` is a name, so a typo
leaves all optional arguments out.

    --slim optional=dorp                 but the word is `drop`
";
    RENAME = "W0331", "A renaming has no effect", "
No operation has the name that is to be changed, or the new name is not one a tool may have: a letter, then letters,
digits, `_` and `-`, 64 characters at most.
";
    NO_TOOLS = "E0333", "A filter selects nothing, and no tools are left", "
A filter given to the compiler matches no operation of the document, and the other filters select none either, so there
is nothing to compile. Ids and paths are case-sensitive. `cargo toolgen list` shows what there is.

    --tag Almubs                         but the tag is called Albums
";
    CREDENTIAL = "W0334", "A credential is for no scheme of the document", "
A credential given to the compiler is for a security scheme that the document does not declare, so no request will carry
it. Names of schemes are case-sensitive.

    --auth petstore_ouath=TOKEN          but the scheme is called petstore_oauth
";
    NO_VARIABLE = "E0339", "A credential does not name an environment variable", "
`Options::credential` takes the name of the variable that holds a credential when a call is made. This is not written
like one, so it may be the credential itself, which would be compiled into the program for everybody to read.

    Options::default().credential(\"api_key\", \"PETSTORE_KEY\")
";
    EXCLUSION = "E0335", "An exclusion selects nothing", "
A filter that keeps operations from becoming tools matches no operation of the document. The operation that is meant
would become a tool that a model may call, so nothing is compiled. Ids and paths are case-sensitive.
`cargo toolgen list` shows what there is; remove an exclusion whose operation is gone. If several documents are compiled
together, an exclusion has to match an operation of at least one.

    --exclude 'DELTE /pets/**'           but the method is called DELETE
";
    LEVEL = "W0336", "A level names the code of an error", "
A level given to the compiler (`--allow`, `--warn`, `Options::allow` and the like, `lints` in a manifest) names the code
of an error, which cannot be allowed: something is left out where it is reported.

    --allow E0303                        stays an error
";
    PAGINATION = "W0337", "A setting for pages has no effect", "
A value of `--pagination` or `Options::pagination` is for no operation that becomes a tool, or is not understood. On the
command line it is `SELECTOR=WAY`: the way says how to ask for the next page, then where things are in the answer.

    link                                          by the header `Link`
    next=/links/next items=/data                  by the URL at this place
    cursor=after@/meta/after items=/results       by this argument, with what is at this place
    last=starting_after@/id items=/data           by this argument, with this part of the last item
    page=page items=/items                        by the number of the page; `page=page@0` if the first is 0
    offset=skip items=/items                      by the number of items before it
    none                                          there are no pages

`more=/has_more` adds where the service says whether more pages follow (`more=!/last`: whether this is the last one),
`total=/total_count` where it says how many items the whole list has, and `size=limit` the argument that limits the
items of a page. Without `items`, the answer is the list.
";
    NO_CODE = "E0338", "A level names no known code", "
A level given to the compiler (`Options::deny` and the like, `lints` in a manifest) names neither a code nor `warnings`.
What should be denied would pass, so this is an error, and a build fails. The options of the command line (`--allow`,
`--warn`, `--deny`) are refused before anything is compiled. `cargo toolgen explain` lists the codes.

    Options::default().deny(\"warnngs\")  is written warnings
    --allow N706                         but the code is N0706
";
    FIX = "E0350", "No tool has the argument that is to be fixed or left out", "
A value of `--fix` or `--omit`, of `Options::fix` or `Options::omit`, or of `fix` or `omit` of an import is for an argument
that no tool has, or only tools that send no request. A model would see the argument that is meant and could set it, so
nothing is compiled. The argument is named as the tool or the document names it; `*` stands for any characters. If
several documents are compiled together, one of them has to have it.

    --fix api_versoin=2026-01-01         but the argument is called api_version
";
    UNFIT_FIX = "E0351", "An argument cannot be fixed or left out", "
The schema of the argument does not allow the value that it is to have, or the argument is required and is to be left
out. Or the name is that of a field of the body, and the whole body is one argument that has several forms, or rules
between its fields, so the model could still give the field. The operation does not become a tool.

Give a value that the schema allows, fix the value of a required argument, or exclude the operation. If only some
operations are meant, name them: `--fix 'tag:pets limit=20'`.
";
}

/// The codes of problems in the options rather than the document.
pub(super) const OF_OPTIONS: &[super::Code] =
    &[SELECTOR, RENAME, NO_TOOLS, CREDENTIAL, NO_VARIABLE, EXCLUSION, LEVEL, PAGINATION, NO_CODE, FIX];
