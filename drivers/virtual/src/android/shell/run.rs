//! Carrying out what was parsed.

use futures::future::{BoxFuture, FutureExt as _, join_all};

use crate::android::commands;
use crate::android::shell::environment::Shell;
use crate::android::shell::io::{Io, Output, Stop, pipe};
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
                self.run_item(item, io).await?;
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
