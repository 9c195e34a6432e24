//! Problems of choosing: a front end for a document, and tools of it by the options (03xx).

super::table! {
    UNKNOWN_KIND = "E0301", "This is no document of a known kind", "
The document is readable, but no front end takes it for its own. Nothing is compiled. A front end knows its documents
by what stands at their top: an OpenAPI document is an object with `openapi: 3.…` or `swagger: '2.0'`, a tool manifest
one with `toolgen: 1`.

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
A filter given to the compiler matches no operation of the document, which is mostly a mistake in writing. Ids and
paths are compared with case. `cargo toolgen list` shows what there is. An exclusion that selects nothing is an error,
E0335.

Or the lever `optional=` is to keep an argument that no tool has: any word but `keep` and `drop` is a name, so that a slip of
the pen leaves all optional arguments out.

    --slim optional=dorp                 but the word is `drop`
";
    RENAME = "W0331", "A renaming has no effect", "
There is no operation of the name that should be changed, or the new name is not one a tool may have: a letter, then
letters, digits, `_` and `-`, 64 characters at most.
";
    NO_TOOLS = "E0333", "A filter selects nothing, and no tools are left", "
A filter given to the compiler matches no operation of the document, and the other filters select none either, so
there is nothing to compile. Ids and paths are compared with case. `cargo toolgen list` shows what there is.

    --tag Almubs                         but the tag is called Albums
";
    CREDENTIAL = "W0334", "A credential is for no scheme of the document", "
A credential given to the compiler is for a security scheme that the document does not declare, so no request will
carry it. Names of schemes are compared with case.

    --auth petstore_ouath=TOKEN          but the scheme is called petstore_oauth
";
    NO_VARIABLE = "E0339", "What is given for a credential names no environment variable", "
`Options::credential` takes the name of the variable that holds a credential when a call is made. What is given is written like
none, so it may be the credential itself, which would be compiled into the program for everybody to read.

    Options::default().credential(\"api_key\", \"PETSTORE_KEY\")
";
    EXCLUSION = "E0335", "An exclusion selects nothing", "
A filter that keeps operations from becoming tools matches no operation of the document. The operation that is meant
would become a tool that a model may call, so nothing is compiled. Ids and paths are compared with case. `cargo toolgen
list` shows what there is; an exclusion of an operation that is gone can go, too. Of several documents compiled
together, an exclusion has to match an operation of one.

    --exclude 'DELTE /pets/**'           but the method is called DELETE
";
    LEVEL = "W0336", "A level is for an error", "
A level given to the compiler (`--allow`, `--warn`, `Options::allow` and the like, `lints` in a manifest) names the code of an
error, which cannot be allowed: something is left out where it is reported.

    --allow E0303                        stays an error
";
    PAGINATION = "W0337", "What is said of pages has no effect", "
What `--pagination` or `Options::pagination` says is for no operation that becomes a tool, or it is not understood. It is
`SELECTOR=WAY` on the command line: a way is how the next page is asked for, then where things are in the answer.

    link                                          by the header `Link`
    next=/links/next items=/data                  by the URL at this place
    cursor=after@/meta/after items=/results       by this argument, with what is at this place
    last=starting_after@/id items=/data           by this argument, with this part of the last item
    page=page items=/items                        by the number of the page; `page=page@0` if the first is 0
    offset=skip items=/items                      by the number of items before it
    none                                          there are no pages

`more=/has_more` adds where the service says whether more pages follow (`more=!/last`: whether this is the last one), `total=/total_count` how many items the
whole list has, and `size=limit` the argument with the most items of a page. Without `items`, the answer is the list.
";
    NO_CODE = "E0338", "A level is for no code", "
A level given to the compiler (`Options::deny` and the like, `lints` in a manifest) names neither a code nor `warnings`. What is
to be denied would pass, so this is an error, and a build fails. The options of the command line (`--allow`, `--warn`,
`--deny`) are refused before anything is compiled. `cargo toolgen explain` lists the codes.

    Options::default().deny(\"warnngs\")  is written warnings
    --allow N706                         but the code is N0706
";
}

/// The codes of problems in the options rather than the document.
pub(super) const OF_OPTIONS: &[super::Code] =
    &[SELECTOR, RENAME, NO_TOOLS, CREDENTIAL, NO_VARIABLE, EXCLUSION, LEVEL, PAGINATION, NO_CODE];
