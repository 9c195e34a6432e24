//! Trims as a constant expression.

use toolgen_core::schema::shape::Slim;
use toolgen_core::schema::shape::slim::DescriptionLimit;

use super::expr::Expr;
use super::fields::{Fields, some, texts};

pub(super) fn slim(slim: &Slim) -> Expr {
    let Slim {
        description,
        parameters,
        nested,
        drop_examples,
        drop_closed,
        optional,
        depth,
        inline,
        ceiling,
    } = slim;
    let (base, name) =
        if ceiling.is_none() { (&Slim::NONE, "Slim::NONE") } else { (&Slim::DEFAULT, "Slim::DEFAULT") };
    let flag = |flag: &bool| Expr::atom(flag.to_string());
    let limit = |limit: &Option<usize>| match limit {
        Some(limit) => some(Expr::atom(limit.to_string())),
        None => Expr::atom("None"),
    };
    let mut fields = Fields::default();
    fields.put("description", description, &base.description, words);
    fields.put("parameters", parameters, &base.parameters, words);
    fields.put("nested", nested, &base.nested, words);
    fields.put("drop_examples", drop_examples, &base.drop_examples, flag);
    fields.put("drop_closed", drop_closed, &base.drop_closed, flag);
    fields.set_optional("optional", optional.as_ref().map(|names| some(texts(names))));
    fields.put("depth", depth, &base.depth, limit);
    fields.put("inline", inline, &base.inline, flag);
    fields.put("ceiling", ceiling, &base.ceiling, limit);
    fields.literal("Slim", name)
}

fn words(words: &DescriptionLimit) -> Expr {
    match words {
        DescriptionLimit::All => Expr::atom("DescriptionLimit::All"),
        DescriptionLimit::None => Expr::atom("DescriptionLimit::None"),
        DescriptionLimit::Characters(limit) => {
            Expr::Call("DescriptionLimit::Characters", vec![Expr::atom(limit.to_string())])
        }
        // The maximum of `usize` differs between machines.
        DescriptionLimit::Sentence(usize::MAX) => {
            Expr::Call("DescriptionLimit::Sentence", vec![Expr::atom("usize::MAX")])
        }
        DescriptionLimit::Sentence(limit) => {
            Expr::Call("DescriptionLimit::Sentence", vec![Expr::atom(limit.to_string())])
        }
    }
}
