//! Parts of `--help` that do not belong to an argument: groups of commands, examples, exit codes.

use clap::Command;

/// The commands, grouped by task.
pub(super) const GROUPS: [(&str, &[&str]); 5] = [
    ("Inspect documents", &["check", "list", "docs", "schema", "tokens", "graph", "explain", "policy"]),
    ("Run tools", &["call", "test", "serve", "approvals", "timeline", "record"]),
    ("Generate code", &["init", "new", "gen", "bin"]),
    ("Check contracts", &["lock", "diff", "mcp"]),
    ("Set up", &["doctor", "completions", "man", "help"]),
];

/// The exit codes of all commands.
pub(super) const EXIT_CODES: &str = "Exit codes:
  0  success; warnings may have been reported
  1  errors: a document or an operation cannot be compiled, a name or all filters match nothing, a denied
     diagnostic was reported, or a call failed
  2  usage error: an argument is unknown or missing";

const PROGRAM_EXAMPLES: &str = "Examples:
  cargo toolgen list api.yaml                            list the tools of an OpenAPI document
  cargo toolgen call api.yaml get_pet id=7 --dry-run     print the request of a call
  cargo toolgen serve api.yaml --read-only               serve the read-only tools over MCP
  cargo toolgen doctor                                   diagnose this project

A document is a file, a URL, or `-` for standard input. `cargo toolgen help COMMAND` has examples for each command.";

/// Examples of each command.
pub(super) const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "check",
        &[
            "cargo toolgen check api.yaml",
            "cargo toolgen check api.yaml --deny warnings --allow W0801",
            "curl -s https://example.com/openapi.json | cargo toolgen check -",
        ],
    ),
    (
        "list",
        &[
            "cargo toolgen list https://example.com/openapi.json",
            "cargo toolgen list api.yaml --tag pets --exclude 'DELETE /**'",
            "cargo toolgen list api.yaml --format json",
        ],
    ),
    (
        "docs",
        &[
            "cargo toolgen docs api.yaml --tool get_pet",
            "cargo toolgen docs api.yaml --level summary --group category",
        ],
    ),
    (
        "schema",
        &[
            "cargo toolgen schema api.yaml --dialect openai-strict --tool get_pet",
            "cargo toolgen schema api.yaml --dialect anthropic --envelope",
            "cargo toolgen schema api.yaml --wire openai-responses --envelope",
        ],
    ),
    (
        "tokens",
        &[
            "cargo toolgen tokens api.yaml",
            "cargo toolgen tokens api.yaml --budget 20000 --slim compact",
            "cargo toolgen tokens api.yaml --format html --out tokens.html",
        ],
    ),
    ("graph", &["cargo toolgen graph tools.yaml", "cargo toolgen graph tools.yaml --format dot"]),
    ("explain", &["cargo toolgen explain E0106", "cargo toolgen explain"]),
    (
        "policy",
        &[
            "cargo toolgen policy explain tools.yaml pay amount=7000 --principal ada --scope clerk",
            "git show HEAD~1:tools.yaml | cargo toolgen policy diff - tools.yaml --fail-on security",
        ],
    ),
    (
        "call",
        &[
            "cargo toolgen call api.yaml",
            "cargo toolgen call api.yaml get_pet id=7 --dry-run",
            "cargo toolgen call api.yaml get_pet id=7 --dry-run --format curl",
            "cargo toolgen call api.yaml add_pet name=Bo tags=small,brown owner.name=Ada photo=@bo.txt",
            "cargo toolgen call api.yaml add_pet '{\"name\": \"Bo\"}' --auth key=PETS_KEY",
        ],
    ),
    ("test", &["cargo toolgen test tools.yaml", "cargo toolgen test tools.yaml --tool count_lines --run"]),
    (
        "serve",
        &[
            "cargo toolgen serve api.yaml --operation 'get*' --read-only",
            "cargo toolgen serve tools.yaml --ask 'effect:destructive' --audit calls.jsonl",
            "cargo toolgen serve api.yaml --http 127.0.0.1:8080",
        ],
    ),
    (
        "approvals",
        &[
            "cargo toolgen approvals list calls.sqlite",
            "cargo toolgen approvals show calls.sqlite 3f9a",
            "cargo toolgen approvals grant calls.sqlite 3f9a --by Eve",
            "cargo toolgen approvals deny calls.sqlite 3f9a --by Eve --note 'Not before Monday.'",
        ],
    ),
    (
        "timeline",
        &[
            "cargo toolgen timeline calls.jsonl api.yaml",
            "cargo toolgen timeline calls.sqlite --out calls.html",
            "cargo toolgen timeline postgres://auditor@db.example/audit api.yaml",
        ],
    ),
    (
        "record",
        &[
            "cargo toolgen record calls.jsonl --session s-1 --out tests/runs/refund.json",
            "cargo toolgen record calls.sqlite --run last --agent clerk",
        ],
    ),
    ("init", &["cargo toolgen init", "cargo toolgen init --toolgen-path ../toolgen"]),
    (
        "new",
        &[
            "cargo toolgen new count_lines",
            "cargo toolgen new find_orders --kind http --manifest shop.yaml",
            "cargo toolgen new --agent shopper",
        ],
    ),
    (
        "gen",
        &[
            "cargo toolgen gen api.yaml --out src/tools",
            "cargo toolgen gen api.yaml --out api-tools --crate api-tools --toolgen-path ../toolgen",
            "cargo toolgen gen api.yaml --out src/tools --check",
        ],
    ),
    ("bin", &["cargo toolgen bin tools.yaml --out tools --toolgen-path ../toolgen --build"]),
    ("lock", &["cargo toolgen lock api.yaml", "cargo toolgen lock api.yaml --out api.lock"]),
    (
        "diff",
        &[
            "cargo toolgen diff toolgen.lock api.yaml",
            "git show HEAD~1:api.yaml | cargo toolgen diff - api.yaml --fail-on security",
        ],
    ),
    (
        "mcp",
        &[
            "cargo toolgen mcp lock --alias shop -- npx -y @example/shop-server@1.4.0",
            "cargo toolgen mcp lock --alias shop --url https://mcp.example.com/mcp --bearer SHOP_TOKEN",
            "cargo toolgen mcp verify shop.lock.json",
        ],
    ),
    ("doctor", &["cargo toolgen doctor", "cargo toolgen doctor --format json"]),
    (
        "completions",
        &[
            "cargo toolgen completions bash >> ~/.bashrc",
            "cargo toolgen completions zsh > ~/.zfunc/_cargo-toolgen",
            "cargo toolgen completions fish > ~/.config/fish/conf.d/cargo-toolgen.fish",
        ],
    ),
    ("man", &["cargo toolgen man ~/.local/share/man/man1"]),
];

/// Adds the groups to the help of the program, and examples and exit codes to the help of each command.
pub(super) fn with_help(mut command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(&name, |sub| {
            let examples =
                EXAMPLES.iter().find(|(command, _)| *command == name).map_or(&[][..], |(_, lines)| lines);
            let examples = examples.iter().map(|line| format!("\n  {line}")).collect::<String>();
            let message = sub.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
            sub.after_help(format!("{message}Examples:{examples}\n\n{EXIT_CODES}"))
        });
    }
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        grouped_commands(&command)
    );
    command.help_template(template).after_help(format!("{PROGRAM_EXAMPLES}\n\n{EXIT_CODES}"))
}

/// Returns the commands with their descriptions, below the headings of their groups.
fn grouped_commands(command: &Command) -> String {
    let about = |name: &str| match command.find_subcommand(name).and_then(Command::get_about) {
        Some(about) => about.to_string(),
        None => "Print the help of a command".to_owned(),
    };
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("{heading}:\n"));
        for name in names {
            text.push_str(&format!("  {name:width$}  {}\n", about(name)));
        }
        text.push('\n');
    }
    text
}
