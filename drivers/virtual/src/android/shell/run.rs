//! Carrying out what was parsed.

use futures::future::{BoxFuture, FutureExt as _, join_all};

use crate::android::commands;
use crate::android::shell::environment::{Immunity, Shell};
use crate::android::shell::io::{Input, Io, Output, Stop, pipe};
use crate::android::shell::parse::parse;
use crate::android::shell::syntax::{Command, Item, Join, Kind, List, Pipeline, Word};

/// The deepest nesting of brackets and scripts.
const MAX_CALLS: u32 = 40;

impl Shell {
    /// Runs a text as `sh -c` does; returns its exit code.
    pub async fn run_text(&mut self, text: &str, io: &Io) -> i32 {
        let result = self.evaluate(text, io).await;
        result.unwrap_or_else(|stop| stop.0)
    }

    /// Runs a text in this shell.
    ///
    /// # Errors
    /// When the shell has to end.
    pub async fn evaluate(&mut self, text: &str, io: &Io) -> Result<i32, Stop> {
        match parse(text) {
            Ok(list) => self.run(&list, io).await,
            Err(error) => {
                self.android.device().note_unhandled(text);
                self.complain(io, &error.to_string()).await?;
                self.status = 1;
                Ok(1)
            }
        }
    }

    /// Runs a list; the exit code also when the shell has to end.
    pub(super) async fn run_to_end(&mut self, list: &List, io: &Io) -> i32 {
        self.run(list, io).await.unwrap_or_else(|stop| stop.0)
    }

    /// `sh: message`, on the standard error.
    ///
    /// # Errors
    /// When nobody reads it.
    pub async fn complain(&self, io: &Io, message: &str) -> Result<(), Stop> {
        let text = format!("/system/bin/sh: {message}\n");
        io.stderr.write(text).await
    }

    fn run<'a>(&'a mut self, list: &'a List, io: &'a Io) -> BoxFuture<'a, Result<i32, Stop>> {
        async move {
            if self.depth > MAX_CALLS {
                self.complain(io, "too many nested calls").await?;
                return Err(Stop(1));
            }
            for item in &list.0 {
                if item.background {
                    self.run_in_background(item, io);
                    self.status = 0;
                } else {
                    self.run_item(item, io).await?;
                }
            }
            Ok(self.status)
        }
        .boxed()
    }

    async fn run_item(&mut self, item: &Item, io: &Io) -> Result<(), Stop> {
        self.status = self.run_pipeline(&item.first, io).await?;
        for (join, pipeline) in &item.rest {
            if (self.status == 0) == (*join == Join::And) {
                self.status = self.run_pipeline(pipeline, io).await?;
            }
        }
        Ok(())
    }

    fn run_in_background(&mut self, item: &Item, io: &Io) {
        let mut copy = self.copy();
        copy.immunity = Immunity::default();
        let immunity = copy.immunity.clone();
        if begins_immune(item) {
            // Before anything can hang up: `nohup` itself may not have begun by then.
            immunity.grant();
        }
        let hangup = self.session.hangup.clone();
        let process = self.android.start_process(self.pid, "sh", "sh");
        copy.pid = process.pid;
        let mut item = Item {
            background: false,
            ..item.clone()
        };
        // A command alone is the process: what it does not need of the shell's files is closed.
        let redirects = match (item.first.commands.as_mut_slice(), item.rest.is_empty()) {
            ([one], true) => std::mem::take(&mut one.redirects),
            _ => Vec::new(),
        };
        let io = Io {
            stdin: Input::empty(),
            ..io.clone()
        };
        let shutdown = self.android.shutdown.clone();
        let tasks = self.android.tasks.clone();
        tasks.spawn(async move {
            let hung_up = async {
                hangup.cancelled().await;
                if immunity.is_granted() {
                    std::future::pending::<()>().await;
                }
            };
            let running = async {
                // A redirection that fails has complained already.
                let Ok(Some(own)) = copy.redirected(&redirects, &io).await else {
                    return;
                };
                drop(io);
                // Nobody asks for the status of what runs in the background.
                copy.run_to_end(&List(vec![item]), &own).await;
            };
            tokio::select! {
                () = running => {}
                () = process.end.cancelled() => {}
                () = hung_up => {}
                () = shutdown.cancelled() => {}
            }
        });
    }

    async fn run_pipeline(&mut self, pipeline: &Pipeline, io: &Io) -> Result<i32, Stop> {
        let code = match pipeline.commands.as_slice() {
            [one] => self.run_command(one, io).await?,
            many => {
                let mut stages = Vec::new();
                let mut input = io.stdin.clone();
                for (i, command) in many.iter().enumerate() {
                    let mut stage = Io {
                        stdin: input.clone(),
                        ..io.clone()
                    };
                    if i + 1 < many.len() {
                        let (writer, reader) = pipe();
                        stage.stdout = Output::Pipe(writer);
                        input = reader;
                    }
                    let mut copy = self.copy();
                    stages.push(async move {
                        let result = copy.run_command(command, &stage).await;
                        result.unwrap_or_else(|stop| stop.0)
                    });
                }
                // Each stage owns its ends of the pipes, so that they close when it is done.
                drop(input);
                join_all(stages).await.last().copied().unwrap_or(0)
            }
        };
        Ok(if pipeline.negated {
            i32::from(code == 0)
        } else {
            code
        })
    }

    fn run_command<'a>(
        &'a mut self,
        command: &'a Command,
        io: &'a Io,
    ) -> BoxFuture<'a, Result<i32, Stop>> {
        async move {
            let words = match &command.kind {
                Kind::Simple { words, .. } => self.arguments_of(words, io).await?,
                _ => Some(Vec::new()),
            };
            let Some(words) = words else {
                return Ok(1);
            };
            let Some(io) = self.redirected(&command.redirects, io).await? else {
                return Ok(1);
            };
            match &command.kind {
                Kind::Simple { assignments, .. } => self.run_simple(assignments, &words, &io).await,
                Kind::Subshell(list) => Ok(self.copy().run_to_end(list, &io).await),
                Kind::Group(list) => self.run(list, &io).await,
                Kind::Loop {
                    condition,
                    body,
                    until,
                } => {
                    let mut code = 0;
                    loop {
                        // A loop of commands that never wait must let others run, and be ended.
                        tokio::task::yield_now().await;
                        if (self.run(condition, &io).await? == 0) == *until {
                            return Ok(code);
                        }
                        code = self.run(body, &io).await?;
                    }
                }
            }
        }
        .boxed()
    }

    async fn run_simple(
        &mut self,
        assignments: &[(String, Word)],
        arguments: &[String],
        io: &Io,
    ) -> Result<i32, Stop> {
        // The status of an assignment is that of a command that was run for its value.
        self.status = 0;
        let mut before = Vec::new();
        for (name, word) in assignments {
            let value = self.text_of(word, io).await?;
            before.push((name, self.was_set(name)));
            self.set(name, Some(value));
        }
        if arguments.is_empty() {
            return Ok(self.status);
        }
        let result = self.invoke(arguments, io).await;
        for (name, value) in before {
            self.set(name, value);
        }
        result
    }

    /// Runs one command with its arguments: one of the shell's own, or a program.
    ///
    /// # Errors
    /// When the shell has to end.
    pub fn invoke<'a>(
        &'a mut self,
        arguments: &'a [String],
        io: &'a Io,
    ) -> BoxFuture<'a, Result<i32, Stop>> {
        commands::run(self, arguments, io).boxed()
    }
}

/// Whether a command that runs in the background is one that hanging up does nothing to.
fn begins_immune(item: &Item) -> bool {
    match item.first.commands.first().map(|command| &command.kind) {
        Some(Kind::Simple { words, .. }) => {
            matches!(words.first().and_then(Word::plain), Some("nohup"))
        }
        _ => false,
    }
}
