//! What `android_sendBroadcast` sends.

use packtrain_drivers::AndroidCommand;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::builtin::caseless;
use crate::tool::ToolError;

arguments! {
    pub(super) struct SendBroadcast {
        /// The intent's action: `com.example.SIGN_IN`.
        action: String,
        /// Package name of the app that receives it.
        component_package: String,
        /// Class of the receiver.
        component_class: String,
        /// What goes with it.
        #[serde(default)]
        extras: Vec<Extra>,
    }

    struct Extra {
        /// Its name.
        key: String,
        /// Its value.
        value: String,
        /// string, boolean, int, long or float.
        #[serde(default, rename = "type", deserialize_with = "caseless")]
        kind: ExtraKind,
    }
}

/// The type of an extra; in short as `am broadcast` has it.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum ExtraKind {
    #[default]
    #[serde(alias = "ES")]
    String,
    #[serde(alias = "EZ", alias = "BOOL")]
    Boolean,
    #[serde(alias = "EI")]
    Int,
    #[serde(alias = "EL")]
    Long,
    #[serde(alias = "EF")]
    Float,
}

impl ExtraKind {
    /// The command language's word for it.
    const fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Boolean => "bool",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
        }
    }

    fn takes(self, value: &str) -> bool {
        match self {
            Self::String => true,
            Self::Boolean => matches!(value, "true" | "false"),
            Self::Int => value.parse::<i32>().is_ok(),
            Self::Long => value.parse::<i64>().is_ok(),
            Self::Float => value.parse::<f32>().is_ok(),
        }
    }
}

impl SendBroadcast {
    /// The broadcast as a command.
    ///
    /// # Errors
    /// A failure that says which extra is wrong, but not its value, which may be a secret.
    pub(super) fn command(self) -> Result<AndroidCommand, ToolError> {
        let mut extras: Vec<(String, String, String)> = Vec::new();
        for (place, extra) in self.extras.into_iter().enumerate() {
            let Extra { key, value, kind } = extra;
            if key.trim().is_empty() {
                return Err(ToolError::failed(format!("`extras[{place}]` has no key")));
            }
            if extras.iter().any(|(earlier, ..)| *earlier == key) {
                return Err(ToolError::failed(format!(
                    "two extras have the key `{key}`"
                )));
            }
            if !kind.takes(&value) {
                return Err(ToolError::failed(format!(
                    "invalid value of the extra `{key}`: expected {}",
                    kind.word()
                )));
            }
            extras.push((key, kind.word().to_owned(), value));
        }
        Ok(AndroidCommand::Broadcast {
            action: self.action,
            component: format!("{}/{}", self.component_package, self.component_class),
            extras,
        })
    }
}
