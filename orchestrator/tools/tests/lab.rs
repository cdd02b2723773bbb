//! A session on a phone in memory, and what tools answer in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use packtrain_device_actors::Fleet;
use packtrain_drivers::{BoxFuture, Command, InputCommand, Platform, Point};
use packtrain_model::memory::Memory;
use packtrain_model::yaml::Value;
use packtrain_testing::scripted;
use packtrain_tools::{
    Answer, Call, CallTrace, Caller, Invoke, Registry, SessionScope, Target, ToolError, ToolRequest,
};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::phone::{Element, Phone};

/// A session on a phone.
pub(crate) struct Lab {
    pub(crate) phone: Arc<Phone>,
    pub(crate) scope: SessionScope,
    registry: Registry,
    _fleet: Fleet,
}

impl Lab {
    pub(crate) async fn new(platform: Platform) -> Self {
        let phone = Phone::new(platform);
        let fleet = Fleet::start(vec![scripted(Arc::clone(&phone))], &[]).unwrap();
        let cancel = CancellationToken::new();
        let lease = fleet
            .lease(&phone.id, "test", soon(), &cancel)
            .await
            .unwrap();
        let target = Target {
            app_ids: BTreeMap::from([(platform, vec!["com.example.shop".to_owned()])]),
            ..Target::default()
        };
        Self {
            phone,
            scope: SessionScope::new(
                "s1".to_owned(),
                lease,
                Memory::default(),
                target,
                Vec::new(),
                cancel,
            ),
            registry: Registry::builtin(),
            _fleet: fleet,
        }
    }

    /// A session on a phone that shows something.
    pub(crate) async fn showing(platform: Platform, elements: Vec<Element>) -> Self {
        let lab = Self::new(platform).await;
        lab.phone.world().show(elements);
        lab
    }

    pub(crate) fn platform(&self) -> Platform {
        self.phone.id.platform()
    }

    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: serde_json::Value,
    ) -> Result<Answer, ToolError> {
        self.call_until(tool, arguments, soon()).await
    }

    pub(crate) async fn call_until(
        &self,
        tool: &str,
        arguments: serde_json::Value,
        deadline: Instant,
    ) -> Result<Answer, ToolError> {
        let call = Call {
            session: &self.scope,
            deadline,
            depth: 0,
            caller: Caller::Person,
            invoker: &NoInvoker,
            trace: &CallTrace::default(),
        };
        let tool = self.registry.get(tool).unwrap();
        tool.call(&Value::from(&arguments), &call).await
    }

    /// The message, the log and the hint of a call that fails.
    pub(crate) async fn failure(
        &self,
        tool: &str,
        arguments: serde_json::Value,
    ) -> (String, Vec<String>, Option<String>) {
        match self.call(tool, arguments).await {
            Err(ToolError::Failed { message, log, hint }) => (message, log, hint),
            Err(error) => (error.to_string(), Vec::new(), None),
            Ok(answer) => panic!("{tool} should have failed, answered {answer:?}"),
        }
    }

    /// A selector by text in the platform's recorded words.
    pub(crate) fn by_text(&self, pattern: &str) -> serde_json::Value {
        match self.platform() {
            Platform::Android => json!({"androidAccessibility": {"textRegex": pattern}}),
            Platform::Ios => json!({"iosMaestro": {"textRegex": pattern}}),
            Platform::Web => unreachable!("no page here"),
        }
    }

    /// Where it was tapped, in order.
    pub(crate) fn taps(&self) -> Vec<Point> {
        let did = self.phone.did();
        did.iter()
            .filter_map(|command| match command {
                Command::Input(InputCommand::Tap { at }) => Some(*at),
                _ => None,
            })
            .collect()
    }
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

struct NoInvoker;

impl Invoke for NoInvoker {
    fn invoke<'a>(&'a self, _: ToolRequest<'a>) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async { Err(ToolError::failed("no other tools here")) })
    }

    fn knows(&self, _: &str) -> bool {
        false
    }

    fn run_trail<'a>(
        &'a self,
        _: &'a str,
        _: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async { Err(ToolError::failed("no trails here")) })
    }
}

/// A phone of a platform, as the program drives it: on an actix system over a multi-thread runtime.
pub(crate) struct On(pub(crate) Platform);

impl On {
    pub(crate) fn told(self, story: impl AsyncFnOnce(Platform)) {
        packtrain_testing::in_system(story(self.0));
    }
}

/// Makes a test of each story on an Android phone and on an iPhone.
macro_rules! on_both {
    ($($story:ident)*) => {
        packtrain_testing::told! {
            android: $crate::lab::On(packtrain_drivers::Platform::Android),
            iphone: $crate::lab::On(packtrain_drivers::Platform::Ios)
            => $($story)*
        }
    };
}

/// Makes a test of each story on an Android phone.
macro_rules! on_android {
    ($($story:ident)*) => {
        packtrain_testing::told! {
            android: $crate::lab::On(packtrain_drivers::Platform::Android) => $($story)*
        }
    };
}

/// Makes a test of each story on an iPhone.
macro_rules! on_ios {
    ($($story:ident)*) => {
        packtrain_testing::told! {
            iphone: $crate::lab::On(packtrain_drivers::Platform::Ios) => $($story)*
        }
    };
}

pub(crate) use {on_android, on_both, on_ios};
