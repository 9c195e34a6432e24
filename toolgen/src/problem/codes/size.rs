//! Problems of the size of tools (08xx).

super::table! {
    CEILING = "W0801", "A tool is too large to be shown in full", "
A request to a provider contains every tool, so a tool with a schema of many thousand tokens costs them in every turn
and hides the others. What a provider is shown of a tool stays below a ceiling, 22,000 bytes by default, which is at
most 8,000 tokens: examples are removed first, then long descriptions, then deeply nested parts of the arguments, and
last of all optional arguments. Calls are still checked against the whole schema, so parts that are not shown are
accepted.

`cargo toolgen tokens` shows where the tokens go. Choose yourself what is trimmed, or set another ceiling:

    cargo toolgen check api.yaml --slim 'nested=sentence, depth=3'
    Options::default().slim(\"compact, ceiling=40000\".parse()?)
    slim: ceiling=off                    for a tool of a manifest, or in its `defaults`
";
    BUDGET = "E0802", "The tools take more tokens than the budget", "
The build or the command has a budget of tokens for one tool or for all tools together, and it is exceeded. The message
names the largest tools and the levers that would save the most.

Select fewer operations, trim with `--slim` or `Options::slim`, or raise the budget. `cargo toolgen tokens` shows where
the tokens go.

    cargo toolgen check api.yaml --budget 20000 --tool-budget 2000
    Options::default().token_budget(20_000, 2_000, \"openai\")
    token_budget: {total: 20000, tool: 2000}             at the top of a manifest
";
    LOSS = "E0803", "A dialect loses a part of a tool", "
The build, the command or the manifest denies losses in a dialect, and a tool has something that neither its schema nor
its descriptions can express there: additional keys, items after the fixed positions of an array, a description that is
too long. Or the dialect rejects the tool. The message names the tool, the location, the keyword and the reason.
Rules that only move into a description are not losses, unless the tool is `exact`.

Change the schema as the help says, omit the tool, or use another dialect of the provider.

    cargo toolgen check api.yaml --deny-losses openai-strict
    Options::default().deny_losses(\"openai-strict\").exact(\"tag:payments\")
    deny_losses: openai_strict           at the top of a manifest
    exact: true                          for a tool of a manifest, or in its `defaults`
";
}
