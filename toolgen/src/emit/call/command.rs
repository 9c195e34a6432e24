//! [`CommandPlan`] as a constant expression.

use toolgen_core::spec::plan::{ArgvTemplate, CommandOutput, CommandPlan, ExitCode, Stdin};

use super::super::expr::Expr;
use super::super::fields::{Fields, list_of, some, texts};
use super::template::{condition, member, template};

pub(super) fn command(plan: &CommandPlan) -> Expr {
    let CommandPlan {
        argv,
        script,
        stdin,
        env,
        inherit,
        work_dir,
        output,
        exit_codes,
        stream,
        max_output,
        cpus,
        memory,
        pids,
        programs,
    } = plan;
    let base = &CommandPlan::EMPTY;
    let mut fields = Fields::default();
    fields.put("argv", argv, &base.argv, |list| list_of(list, word));
    fields.text("script", script, &base.script);
    fields.put("stdin", stdin, &base.stdin, self::stdin);
    fields.put("env", env, &base.env, |list| list_of(list, member));
    fields.put("inherit", inherit, &base.inherit, texts);
    fields.set_optional("work_dir", work_dir.as_ref().map(|value| some(template(value))));
    fields.put("output", output, &base.output, |output| Expr::atom(self::output(*output)));
    fields.put("exit_codes", exit_codes, &base.exit_codes, |list| list_of(list, exit_code));
    fields.put("stream", stream, &base.stream, |stream| Expr::atom(stream.to_string()));
    fields.put("max_output", max_output, &base.max_output, |max| Expr::atom(max.to_string()));
    fields.set_optional("cpus", cpus.map(|cpus| some(Expr::atom(format!("{cpus:?}")))));
    fields.set_optional("memory", memory.map(|bytes| some(Expr::atom(bytes.to_string()))));
    fields.set_optional("pids", pids.map(|count| some(Expr::atom(count.to_string()))));
    fields.put("programs", programs, &base.programs, texts);
    fields.literal("CommandPlan", "CommandPlan::EMPTY")
}

fn word(word: &ArgvTemplate) -> Expr {
    let (head, fields) = match word {
        ArgvTemplate::One { text, allow_leading_dash: dash } => (
            "ArgvTemplate::One",
            vec![("text", template(text)), ("allow_leading_dash", Expr::atom(dash.to_string()))],
        ),
        ArgvTemplate::Each { list, allow_leading_dash: dash } => (
            "ArgvTemplate::Each",
            vec![("list", template(list)), ("allow_leading_dash", Expr::atom(dash.to_string()))],
        ),
        ArgvTemplate::Group { condition, words } => {
            let condition = match condition {
                Some(condition) => some(self::condition(condition)),
                None => Expr::atom("None"),
            };
            ("ArgvTemplate::Group", vec![("condition", condition), ("words", list_of(words, self::word))])
        }
    };
    Expr::Struct { head, fields, base: None }
}

fn stdin(stdin: &Stdin) -> Expr {
    match stdin {
        Stdin::Nothing => Expr::atom("Stdin::Nothing"),
        Stdin::Text(text) => Expr::Call("Stdin::Text", vec![template(text)]),
        Stdin::Arguments => Expr::atom("Stdin::Arguments"),
    }
}

fn output(output: CommandOutput) -> &'static str {
    match output {
        CommandOutput::Text => "CommandOutput::Text",
        CommandOutput::Json => "CommandOutput::Json",
        CommandOutput::JsonLines => "CommandOutput::JsonLines",
        CommandOutput::Envelope => "CommandOutput::Envelope",
    }
}

fn exit_code(exit: &ExitCode) -> Expr {
    let ExitCode { code, success, message } = exit;
    let fields = vec![
        ("code", Expr::atom(code.to_string())),
        ("success", Expr::atom(success.to_string())),
        ("message", Expr::text(message)),
    ];
    Expr::Struct { head: "ExitCode", fields, base: None }
}
