//! The words about generated types.

use clap::{Arg, ArgAction, ArgMatches};
use toolgen::Options;
use toolgen::emit::{Modules, TextType};

use super::{flag, option};

/// Returns the arguments of `gen` about types.
pub(super) fn arguments() -> [Arg; 4] {
    [
        flag("no-types", "Write no argument and result structs"),
        option("derive", "PATH", "Structs and enums also derive this, such as ::schemars::JsonSchema")
            .action(ArgAction::Append)
            .conflicts_with("no-types"),
        option("text-types", "CRATES", "Use types of chrono, jiff, url and uuid instead of strings")
            .action(ArgAction::Append)
            .value_delimiter(',')
            .value_parser(|text: &str| text.trim().parse::<TextType>())
            .conflicts_with("no-types"),
        modules(),
    ]
}

/// Returns the argument that says how the tools are divided into modules.
pub(super) fn modules() -> Arg {
    option("modules", "HOW", "`one` per document, or `by-tag`: one per tag, in a crate each in a file")
        .default_value(Modules::One.name())
        .value_parser(|text: &str| text.parse::<Modules>())
}

/// Sets what the arguments say.
pub(super) fn set(matches: &ArgMatches, options: &mut Options) {
    options.types = !matches.get_flag("no-types");
    options.derives = matches.get_many("derive").unwrap_or_default().cloned().collect();
    options.text_types = matches.get_many("text-types").unwrap_or_default().copied().collect();
    set_modules(matches, options);
}

/// Sets how the tools are divided into modules.
pub(super) fn set_modules(matches: &ArgMatches, options: &mut Options) {
    options.modules = matches.get_one("modules").copied().unwrap_or_default();
}
