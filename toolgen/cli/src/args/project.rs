//! The words of the commands about a whole project: its graph, its programs, its files, its tests.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::{Selection, Task, compiling, flag, generated, option, path};

/// `graph`
#[derive(Debug)]
pub(in super::super) struct Graph {
    pub(in super::super) selection: Selection,
    /// Whether it is drawn for Graphviz.
    pub(in super::super) dot: bool,
}

/// `bin`
#[derive(Debug)]
pub(in super::super) struct Bin {
    pub(in super::super) selection: Selection,
    pub(in super::super) out: PathBuf,
    pub(in super::super) name: Option<String>,
    pub(in super::super) toolgen_path: Option<PathBuf>,
    pub(in super::super) build: bool,
    pub(in super::super) force: bool,
}

/// `init`
#[derive(Debug)]
pub(in super::super) struct Init {
    pub(in super::super) folder: PathBuf,
    pub(in super::super) library: bool,
    pub(in super::super) toolgen_path: Option<PathBuf>,
}

/// `new`
#[derive(Debug)]
pub(in super::super) struct New {
    pub(in super::super) tool: String,
    pub(in super::super) kind: String,
    pub(in super::super) manifest: PathBuf,
}

/// `test`
#[derive(Debug)]
pub(in super::super) struct Test {
    pub(in super::super) selection: Selection,
    pub(in super::super) tools: Vec<String>,
    pub(in super::super) run: bool,
    /// The folder that programs work in; `None`: the current one.
    pub(in super::super) work_dir: Option<PathBuf>,
    pub(in super::super) emit: Option<PathBuf>,
    pub(in super::super) force: bool,
}

/// The kinds of tools that `new` knows.
const KINDS: [&str; 8] = ["command", "http", "function", "compose", "complete", "effect", "agent", "rust"];

/// Adds the commands.
pub(super) fn with_commands(command: Command) -> Command {
    command.subcommand(graph()).subcommand(bin()).subcommand(init()).subcommand(new()).subcommand(test())
}

fn graph() -> Command {
    compiling("graph", "Draw which tools require which, and which call which").arg(
        option("format", "FORMAT", "For Mermaid or for Graphviz")
            .value_parser(["mermaid", "dot"])
            .default_value("mermaid"),
    )
}

fn bin() -> Command {
    compiling("bin", "Write a program that answers one call of a tool: JSON in, JSON out")
        .arg(path("out", "DIR", "The folder to write to").required(true))
        .arg(option("name", "NAME", "The name of the program; that of the first document by default"))
        .arg(toolgen_path())
        .arg(generated::modules())
        .arg(flag("build", "Build the program, too"))
        .arg(flag("force", "Replace files that were not generated, too"))
        .after_help(
            "The program reads the arguments of a call from its standard input: `NAME TOOL < arguments.json`, or \
             `NAME < arguments.json` if it has one tool. It writes one JSON object: {\"result\"}, {\"results\"}, or \
             {\"error\", \"code\"}. `NAME --help` says more. Credentials are read from the environment.\n\n\
             Tools that are functions, effects or agents cannot run there and are left out.",
        )
}

/// The argument that names where the crates are while no registry has them.
pub(super) fn toolgen_path() -> Arg {
    path("toolgen-path", "DIR", "The folder of a checkout of toolgen, which is not on a registry yet")
}

fn init() -> Command {
    Command::new("init")
        .about("Prepare a crate for tools: a manifest, a build script, dependencies")
        .arg(
            Arg::new("folder")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .default_value(".")
                .help("The folder of the crate"),
        )
        .arg(flag("lib", "Explain what to write in a library, even if the crate has a program"))
        .arg(toolgen_path())
        .after_help("Nothing that exists is overwritten: what cannot be added is printed.")
}

fn new() -> Command {
    Command::new("new")
        .about("Add a tool to a manifest, to be filled in")
        .arg(Arg::new("tool").value_name("TOOL").required(true).help("The name of the tool"))
        .arg(
            option("kind", "KIND", "command, http, function, compose, complete, effect, agent or rust")
                .value_parser(KINDS)
                .hide_possible_values(true)
                .default_value("command"),
        )
        .arg(path("manifest", "FILE", "The manifest").default_value("tools.yaml"))
        .after_help("`--kind rust` writes a function with #[tool] and its test to src/tools/TOOL.rs instead.")
}

fn test() -> Command {
    compiling("test", "Call each tool as its description says, and as it forbids, and show what happens")
        .arg(super::tools())
        .arg(flag("run", "Really run the commands of tools that are `read_only`, with made-up arguments"))
        .arg(super::requests::work_dir().requires("run"))
        .arg(path("emit", "FILE", "Write these tests as Rust to this file, and run nothing"))
        .arg(flag("force", "Replace a file that was not generated, too"))
        .after_help(
            "Requests go to a server of this command, which records them; commands are recorded, not run, without \
             `--run`. For each tool:\n  \
             accepts   its examples, or arguments made from its schema, run\n  \
             refuses   arguments that break the schema are refused before anything runs\n  \
             reports   a failure of the service or the program is an error\n  \
             requires  a call whose requirements are not met is refused, and says which\n\n\
             The exit code is 1 if any of these does not hold.",
        )
}

/// Returns the task of a command without documents.
pub(super) fn task(name: &str, matches: &ArgMatches) -> Option<Task> {
    let file = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
    match name {
        "init" => Some(Task::Init(Init {
            folder: file("folder").unwrap_or_default(),
            library: matches.get_flag("lib"),
            toolgen_path: file("toolgen-path"),
        })),
        "new" => Some(Task::New(New {
            tool: text("tool"),
            kind: text("kind"),
            manifest: file("manifest").unwrap_or_default(),
        })),
        _ => None,
    }
}

/// Returns the task of a command that compiles documents.
pub(super) fn compiling_task(name: &str, matches: &ArgMatches, selection: Selection) -> Result<Task, String> {
    let file = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    Ok(match name {
        "graph" => {
            Task::Graph(Graph { selection, dot: text("format").is_some_and(|format| format == "dot") })
        }
        "bin" => Task::Bin(Bin {
            selection,
            out: file("out").unwrap_or_default(),
            name: text("name"),
            toolgen_path: file("toolgen-path"),
            build: matches.get_flag("build"),
            force: matches.get_flag("force"),
        }),
        _ => Task::Test(Test {
            selection,
            tools: matches.get_many::<String>("tool").unwrap_or_default().cloned().collect(),
            run: matches.get_flag("run"),
            work_dir: super::requests::given_work_dir(matches)?,
            emit: file("emit"),
            force: matches.get_flag("force"),
        }),
    })
}
