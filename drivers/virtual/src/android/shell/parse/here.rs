//! Here-documents: their bodies come after the line that names them.

use crate::android::shell::syntax::{Command, Kind, List, Redirect, Target, Word};

/// Puts the bodies of here-documents in the place of their end words, in order.
pub(super) fn fill(list: &mut List, bodies: &[Word]) {
    let mut bodies = bodies.iter();
    visit(list, &mut |redirect| {
        if let Target::Here(word) = &mut redirect.target {
            *word = bodies.next().cloned().unwrap_or_default();
        }
    });
}

fn visit(list: &mut List, act: &mut dyn FnMut(&mut Redirect)) {
    for item in &mut list.0 {
        let pipelines =
            std::iter::once(&mut item.first).chain(item.rest.iter_mut().map(|r| &mut r.1));
        for command in pipelines.flat_map(|p| &mut p.commands) {
            visit_command(command, act);
        }
    }
}

fn visit_command(command: &mut Command, act: &mut dyn FnMut(&mut Redirect)) {
    match &mut command.kind {
        Kind::Simple { .. } | Kind::Condition(_) => {}
        Kind::Subshell(list) | Kind::Group(list) => visit(list, act),
        Kind::If {
            branches,
            otherwise,
        } => {
            for (condition, body) in branches {
                visit(condition, act);
                visit(body, act);
            }
            if let Some(list) = otherwise {
                visit(list, act);
            }
        }
        Kind::Loop {
            condition, body, ..
        } => {
            visit(condition, act);
            visit(body, act);
        }
        Kind::For { body, .. } => visit(body, act),
        Kind::Case { arms, .. } => arms.iter_mut().for_each(|(_, body)| visit(body, act)),
        Kind::Function { body, .. } => visit_command(body, act),
    }
    command.redirects.iter_mut().for_each(act);
}
