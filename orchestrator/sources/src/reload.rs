//! `reloadTools`: asks the tool sources for their tools again, while a run goes on.

use packtrain_drivers::BoxFuture;
use packtrain_model::yaml::{DecodeError, Value};
use packtrain_tools::{Answer, Call, Kind, Tool, ToolError, ToolSpec};

use crate::supervisor::Reloading;

/// The tool.
pub(crate) struct ReloadTools {
    spec: ToolSpec,
    reloading: Reloading,
}

impl ReloadTools {
    pub(crate) fn new(reloading: Reloading) -> Self {
        let mut spec = ToolSpec::new(
            "reloadTools",
            "Asks the tool sources for their tools again. Answers how many are new, gone and there.",
            Kind::Meta,
        );
        spec.shown = false;
        spec.recordable = false;
        Self { spec, reloading }
    }
}

impl Tool for ReloadTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn check(&self, _: &Value) -> Result<(), DecodeError> {
        Ok(())
    }

    fn call<'a>(
        &'a self,
        _: &'a Value,
        _: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async {
            let reloaded = self.reloading.reload().await;
            Ok(Answer::data(serde_json::json!(reloaded)))
        })
    }
}
