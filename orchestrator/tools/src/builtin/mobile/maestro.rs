//! `mobile_maestro`: a list of Maestro commands, for trails that were written with them.

mod command;
mod element;
mod run;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Object;
use crate::builtin::tool;
use crate::mobile::PHONES;
use crate::tool::{Answer, Kind, Tool};
use command::MaestroCommand;
pub(super) use element::Element;

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<Maestro>(
            "mobile_maestro",
            Kind::Action,
            "Carries out Maestro commands one after another. Tools of their own are to be \
             preferred where there are any.",
            |arguments, call| {
                Box::pin(async move {
                    let mut all = Answer::default();
                    for (place, command) in arguments.commands.into_iter().enumerate() {
                        let answer = run::run(place, command, call).await?;
                        all.report.located = answer.report.located.or(all.report.located);
                        all.report.notes.extend(answer.report.notes);
                    }
                    Ok(all)
                })
            },
        )
        .on(PHONES)
        .internal()
        .done(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Maestro {
    /// Maestro commands as in its flows, such as `{tapOn: Save}` or `{back: {}}`.
    #[schemars(with = "Vec<Object>")]
    commands: Vec<MaestroCommand>,
}
