//! `mobile_maestro`: a list of Maestro commands, for trails that were written with them.

mod command;
mod element;
mod run;

use command::Named;

use super::Object;
use crate::mobile::PHONES;
use crate::tool::Answer;

pub(super) use element::Element;

tools! { PHONES;
    /// Carries out Maestro commands one after another. Prefer Packtrain's own tools where they
    /// exist.
    Action mobile_maestro Maestro {
        /// Maestro commands as in its flows, such as `{tapOn: Save}` or `{back: {}}`.
        #[schemars(with = "Vec<Object>")]
        commands: Vec<Named>,
    }
    .internal()
    |arguments, call| {
        let mut all = Answer::default();
        for (place, command) in arguments.commands.into_iter().enumerate() {
            let answer = run::run(place, command, call).await?;
            all.report.located = answer.report.located.or(all.report.located);
            all.report.notes.extend(answer.report.notes);
        }
        Ok(all)
    };
}
