//! `mobile_maestro`: a list of Maestro commands, for trails that were written with them.

mod command;
mod element;
mod run;

use command::Named;

use super::{Object, action};
use crate::builtin::Tools;
use crate::tool::Answer;

pub(super) use element::Element;

pub(super) fn tools() -> Tools {
    tools![
        action::<Maestro>(
            "mobile_maestro",
            "Carries out Maestro commands one after another. Prefer Packtrain's own tools where they \
             exist.",
            body!(|arguments, call| {
                let mut all = Answer::default();
                for (place, command) in arguments.commands.into_iter().enumerate() {
                    let answer = run::run(place, command, call).await?;
                    all.report.located = answer.report.located.or(all.report.located);
                    all.report.notes.extend(answer.report.notes);
                }
                Ok(all)
            }),
        )
        .internal(),
    ]
}

arguments! {
    struct Maestro {
        /// Maestro commands as in its flows, such as `{tapOn: Save}` or `{back: {}}`.
        #[schemars(with = "Vec<Object>")]
        commands: Vec<Named>,
    }
}
