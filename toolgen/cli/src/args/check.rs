//! The words of `check`, and those about the levels of problems.

use clap::{Arg, ArgAction, ArgMatches, Command};
use toolgen::catalogue;
use toolgen::problem::{Level, Levels};

use super::{flag, format, option};

/// The options that set levels, the strictest last: it wins if a code has several.
const LEVELS: [(Level, &str); 3] = [
    (Level::Allow, "Do not report these problems: a code such as N0706, or `warnings`"),
    (Level::Warn, "Report these problems as warnings"),
    (Level::Deny, "Report these problems as errors: a code, or `warnings`"),
];

/// Adds the options that set levels.
pub(super) fn with_levels(command: Command) -> Command {
    let levels = LEVELS.map(|(level, help)| option(level.as_str(), "CODE", help).action(ArgAction::Append));
    command.args(levels.map(|level| level.help_heading("Problems")))
}

/// Returns the options of `check` in addition to those of all commands.
pub(super) fn arguments() -> Vec<Arg> {
    vec![
        format(),
        flag("all", "Show every problem, not just a count where there are many")
            .short('v')
            .visible_alias("verbose")
            .alias("notes"),
        option("deny-losses", "DIALECT", "Report as errors what this dialect cannot express of the tools")
            .action(ArgAction::Append),
    ]
}

/// Sets the levels that the words say. An error names a word that is not a code.
pub(super) fn levels(matches: &ArgMatches, levels: &mut Levels) -> Result<(), String> {
    for (level, _) in LEVELS {
        let codes = matches.try_get_many::<String>(level.as_str()).ok().flatten().unwrap_or_default();
        for code in codes {
            if catalogue::find(code).is_none() && !code.eq_ignore_ascii_case("warnings") {
                let near = catalogue::meant(code).map(|near| format!("did you mean `{near}`?"));
                let near = near.unwrap_or_else(|| "`cargo toolgen explain` lists the codes".to_owned());
                return Err(format!("`--{} {code}`: there is no such code; {near}", level.as_str()));
            }
            levels.set(code, level);
        }
    }
    Ok(())
}
