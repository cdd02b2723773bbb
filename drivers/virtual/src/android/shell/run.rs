//! Carrying out what was parsed.

use futures::future::{BoxFuture, FutureExt as _, join_all};

use crate::android::commands;
use crate::android::shell::environment::{Immunity, Shell};
use crate::android::shell::io::{Input, Io, Stop, pipe};
use crate::android::shell::parse::parse;
use crate::android::shell::pattern;
use crate::android::shell::syntax::{Command, Item, Join, Kind, List, Pipeline, Word};

/// The deepest nesting of functions, brackets and `eval`.
const MAX_CALLS: u32 = 40;

/// Why commands are not carried out any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The shell ends with this code.
    Exit(i32),
    /// Out of so many loops.
    Break(u32),
    /// To the next round of the loop so many further out.
    Continue(u32),
    /// Out of a function.
    Return(i32),
}

impl From<Stop> for Flow {
    fn from(stop: Stop) -> Self {
        Self::Exit(stop.0)
    }
}

impl Shell {
    /// Runs a text as `sh -c` does; returns its exit code.
    pub async fn run_text(&mut self, text: &str, io: &Io) -> i32 {
        // A trap is the shell's that set it, not that of the scripts it runs.
        self.exit_trap = None;
        let code = match self.evaluate(text, io).await {
            Ok(code) => code,
            Err(Flow::Exit(code) | Flow::Return(code)) => code,
            Err(Flow::Break(_) | Flow::Continue(_)) => self.status,
        };
        self.end(code, io).await
    }

    /// The shell ends: runs what is trapped for that, and returns the exit code.
    pub async fn end(&mut self, code: i32, io: &Io) -> i32 {
        let Some(trap) = self.exit_trap.take() else {
            return code;
        };
        self.status = code;
        match self.evaluate(&trap, io).await {
            Err(Flow::Exit(code)) => code,
            Ok(_) | Err(Flow::Return(_) | Flow::Break(_) | Flow::Continue(_)) => code,
        }
    }

    /// Runs a text in this shell, as `eval` does.
    ///
    /// # Errors
    /// When the shell has to end, or a loop or function around it.
    pub async fn evaluate(&mut self, text: &str, io: &Io) -> Result<i32, Flow> {
        match parse(text) {
            Ok(list) => self.run(&list, io).await,
            Err(error) => {
                self.complain(io, &error.to_string()).await?;
                self.status = 1;
                Ok(1)
            }
        }
    }

    /// Runs a list in a copy that nothing outside of it sees.
    pub(super) async fn run_as_subshell(&mut self, list: &List, io: &Io) -> Result<i32, Flow> {
        match self.run(list, io).await {
            Ok(code) | Err(Flow::Exit(code) | Flow::Return(code)) => Ok(code),
            Err(Flow::Break(_) | Flow::Continue(_)) => Ok(self.status),
        }
    }

    /// `sh: message`, on the standard error.
    ///
    /// # Errors
    /// When nobody reads it.
    pub async fn complain(&self, io: &Io, message: &str) -> Result<(), Stop> {
        io.stderr
            .write(format!("/system/bin/sh: {message}\n"))
            .await
    }

    fn run<'a>(&'a mut self, list: &'a List, io: &'a Io) -> BoxFuture<'a, Result<i32, Flow>> {
        async move {
            if self.depth > MAX_CALLS {
                self.complain(io, "too many nested calls").await?;
                return Err(Flow::Exit(1));
            }
            for item in &list.0 {
                if item.background {
                    self.run_in_background(item, io);
                    self.status = 0;
                } else {
                    self.status = self.run_item(item, io).await?;
                }
            }
            Ok(self.status)
        }
        .boxed()
    }

    async fn run_item(&mut self, item: &Item, io: &Io) -> Result<i32, Flow> {
        let mut code = self.run_pipeline(&item.first, io).await?;
        self.status = code;
        let mut last = &item.first;
        for (join, pipeline) in &item.rest {
            let goes_on = match join {
                Join::And => code == 0,
                Join::Or => code != 0,
            };
            if goes_on {
                code = self.run_pipeline(pipeline, io).await?;
                self.status = code;
                last = pipeline;
            }
        }
        if self.exit_on_error && code != 0 && item.rest.is_empty() && !last.negated {
            return Err(Flow::Exit(code));
        }
        Ok(code)
    }

    fn run_in_background(&mut self, item: &Item, io: &Io) {
        let mut copy = self.clone();
        copy.depth += 1;
        copy.immunity = Immunity::default();
        let immunity = copy.immunity.clone();
        if begins_immune(item) {
            // Before anything can hang up: `nohup` itself may not have begun by then.
            immunity.grant();
        }
        let hangup = self.session.hangup.clone();
        let process = self.android.start_process(self.pid, "sh", "sh");
        self.last_background = Some(process.pid);
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
                let list = List(vec![item]);
                // Nobody asks for the status of what runs in the background.
                let _ = copy.run_as_subshell(&list, &own).await;
            };
            tokio::select! {
                () = running => {}
                () = process.end.cancelled() => {}
                () = hung_up => {}
                () = shutdown.cancelled() => {}
            }
        });
    }

    async fn run_pipeline(&mut self, pipeline: &Pipeline, io: &Io) -> Result<i32, Flow> {
        let begun = self.android.device().now();
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
                        stage.stdout = crate::android::shell::io::Output::Pipe(writer);
                        input = reader;
                    }
                    let mut copy = self.clone();
                    copy.depth += 1;
                    stages.push(async move {
                        match copy.run_command(command, &stage).await {
                            Ok(code) | Err(Flow::Exit(code) | Flow::Return(code)) => code,
                            Err(Flow::Break(_) | Flow::Continue(_)) => 0,
                        }
                    });
                }
                // Each stage owns its ends of the pipes, so that they close when it is done.
                drop(input);
                join_all(stages).await.last().copied().unwrap_or(0)
            }
        };
        if pipeline.timed {
            let took = (self.android.device().now().saturating_sub(begun)).as_secs_f64();
            let (minutes, seconds) = ((took / 60.0).floor(), took % 60.0);
            let text =
                format!("{minutes:5}m{seconds:05.2}s real     0m00.00s user     0m00.00s system\n");
            io.stderr.write(text).await?;
        }
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
    ) -> BoxFuture<'a, Result<i32, Flow>> {
        async move {
            if let Kind::Simple { assignments, words } = &command.kind {
                return self.run_simple(assignments, words, command, io).await;
            }
            let Some(io) = self.redirected(&command.redirects, io).await? else {
                return Ok(1);
            };
            match &command.kind {
                Kind::Simple { .. } => Ok(0),
                Kind::Subshell(list) => {
                    let mut copy = self.clone();
                    copy.depth += 1;
                    copy.run_as_subshell(list, &io).await
                }
                Kind::Group(list) => self.run(list, &io).await,
                Kind::If {
                    branches,
                    otherwise,
                } => {
                    for (condition, body) in branches {
                        if self.condition(condition, &io).await? == 0 {
                            return self.run(body, &io).await;
                        }
                    }
                    match otherwise {
                        Some(list) => self.run(list, &io).await,
                        None => Ok(0),
                    }
                }
                Kind::Loop {
                    condition,
                    body,
                    until,
                } => self.run_loop(condition, body, *until, &io).await,
                Kind::For {
                    variable,
                    words,
                    body,
                } => self.run_for(variable, words.as_deref(), body, &io).await,
                Kind::Case { word, arms } => {
                    let text = self.text_of(word, &io).await?;
                    for (patterns, body) in arms {
                        for pattern in patterns {
                            let pattern = self.pattern_of(pattern, &io).await?;
                            if pattern::matches(&pattern, &text) {
                                return self.run(body, &io).await;
                            }
                        }
                    }
                    Ok(0)
                }
                Kind::Condition(parts) => self.run_condition(parts, &io).await,
                Kind::Function { name, body } => {
                    self.functions.insert(name.clone(), body.as_ref().clone());
                    Ok(0)
                }
            }
        }
        .boxed()
    }

    /// Runs a condition, whose failing does not end the shell.
    async fn condition(&mut self, list: &List, io: &Io) -> Result<i32, Flow> {
        let before = std::mem::replace(&mut self.exit_on_error, false);
        let result = self.run(list, io).await;
        self.exit_on_error = before;
        result
    }

    async fn run_loop(
        &mut self,
        condition: &List,
        body: &List,
        until: bool,
        io: &Io,
    ) -> Result<i32, Flow> {
        let mut code = 0;
        loop {
            // A loop of commands that never wait must let others run, and be ended.
            tokio::task::yield_now().await;
            if (self.condition(condition, io).await? == 0) == until {
                return Ok(code);
            }
            match self.run(body, io).await {
                Ok(status) => code = status,
                Err(Flow::Break(1)) => return Ok(0),
                Err(Flow::Continue(1)) => {}
                Err(flow) => return Err(one_loop_out(flow)),
            }
        }
    }

    async fn run_for(
        &mut self,
        variable: &str,
        words: Option<&[Word]>,
        body: &List,
        io: &Io,
    ) -> Result<i32, Flow> {
        let values = match words {
            Some(words) => self.arguments_of(words, io).await?,
            None => self.arguments.clone(),
        };
        let mut code = 0;
        for value in values {
            tokio::task::yield_now().await;
            self.set(variable, &value);
            match self.run(body, io).await {
                Ok(status) => code = status,
                Err(Flow::Break(1)) => return Ok(0),
                Err(Flow::Continue(1)) => {}
                Err(flow) => return Err(one_loop_out(flow)),
            }
        }
        Ok(code)
    }

    async fn run_simple(
        &mut self,
        assignments: &[(String, Word)],
        words: &[Word],
        command: &Command,
        io: &Io,
    ) -> Result<i32, Flow> {
        let arguments = self.arguments_of(words, io).await?;
        let mut assigned = Vec::new();
        for (name, word) in assignments {
            assigned.push((name.clone(), self.text_of(word, io).await?));
        }
        let Some(new) = self.redirected(&command.redirects, io).await? else {
            return Ok(1);
        };
        if arguments.is_empty() {
            for (name, value) in assigned {
                self.set(&name, &value);
            }
            // The status is that of a command that was run for its output, if one was.
            return Ok(if words.is_empty() && assignments.is_empty() {
                0
            } else {
                self.status_of_assignment(assignments)
            });
        }
        let before: Vec<_> = (assigned.iter())
            .map(|(name, _)| (name.clone(), self.get(name), self.is_exported(name)))
            .collect();
        for (name, value) in &assigned {
            self.set(name, value);
            self.export(name);
        }
        let result = self.invoke(&arguments, &new).await;
        for (name, value, exported) in before {
            self.unset_variable(&name);
            if let Some(value) = value {
                self.set(&name, &value);
                if exported {
                    self.export(&name);
                }
            }
        }
        result
    }

    fn status_of_assignment(&self, assignments: &[(String, Word)]) -> i32 {
        use crate::android::shell::syntax::Piece;
        let runs = |word: &Word| word.0.iter().any(|p| matches!(p, Piece::Command { .. }));
        if assignments.iter().any(|(_, word)| runs(word)) {
            self.status
        } else {
            0
        }
    }

    /// Runs one command with its arguments: a function, one of the shell's own, or a program.
    ///
    /// # Errors
    /// When the shell has to end, or a loop or function around it.
    pub fn invoke<'a>(
        &'a mut self,
        arguments: &'a [String],
        io: &'a Io,
    ) -> BoxFuture<'a, Result<i32, Flow>> {
        async move {
            let Some(name) = arguments.first() else {
                return Ok(0);
            };
            if let Some(body) = self.functions.get(name).cloned() {
                let before = std::mem::replace(&mut self.arguments, arguments[1..].to_vec());
                self.depth += 1;
                let result = if self.depth > MAX_CALLS {
                    self.complain(io, "too many nested calls").await?;
                    Err(Flow::Exit(1))
                } else {
                    self.run_command(&body, io).await
                };
                self.depth -= 1;
                self.arguments = before;
                return match result {
                    Err(Flow::Return(code)) => Ok(code),
                    other => other,
                };
            }
            commands::run(self, arguments, io).await
        }
        .boxed()
    }
}

/// Whether a command that runs in the background is one that hanging up does nothing to.
fn begins_immune(item: &Item) -> bool {
    let first = item.first.commands.first().map(|command| &command.kind);
    let Some(Kind::Simple { words, .. }) = first else {
        return false;
    };
    matches!(
        words.first().and_then(Word::plain),
        Some("nohup" | "setsid")
    )
}

const fn one_loop_out(flow: Flow) -> Flow {
    match flow {
        Flow::Break(loops) => Flow::Break(loops - 1),
        Flow::Continue(loops) => Flow::Continue(loops - 1),
        Flow::Exit(code) => Flow::Exit(code),
        Flow::Return(code) => Flow::Return(code),
    }
}

impl Shell {
    fn unset_variable(&mut self, name: &str) {
        let functions = std::mem::take(&mut self.functions);
        self.unset(name);
        self.functions = functions;
    }
}
