//! Tools that type, erase and press keys, in whatever has the focus.

use std::hash::{BuildHasher, Hasher, RandomState};

use packtrain_drivers::{Command, InputCommand, Key};

use super::{Answering, action};
use crate::builtin::{Nothing, Tools, caseless, number, yes};
use crate::call::Call;
use crate::mobile::act::{back, press};
use crate::tool::{Answer, ToolError};

/// Most digits of a random text.
const MOST_DIGITS: u32 = 100;

pub(super) fn tools() -> Tools {
    tools![
        action::<InputText>(
            "inputText",
            "Types a text into the field that has the focus and dismisses the keyboard.",
            body!(
                |arguments, call| type_text(call, arguments.text, arguments.hide_keyboard_after)
                    .await
            ),
        ),
        action::<InputTextRandom>(
            "inputTextRandom",
            "Types a prefix and random digits, and remembers the text under a name.",
            body!(|arguments, call| type_random(arguments, call).await),
        )
        .remembering("variable"),
        action::<EraseText>(
            "eraseText",
            "Removes characters before the cursor, or all when no number is given.",
            |arguments, call| input(call, InputCommand::Erase(arguments.characters_to_erase)),
        ),
        action::<Nothing>(
            "clearText",
            "Empties the field that has the focus.",
            |Nothing {}, call| input(call, InputCommand::Erase(None)),
        ),
        action::<SetClipboard>(
            "mobile_setClipboard",
            "Puts a text on the clipboard.",
            |arguments, call| input(call, InputCommand::SetClipboard(arguments.text)),
        ),
        action::<Nothing>(
            "mobile_pasteClipboard",
            "Pastes the clipboard into the field that has the focus.",
            |Nothing {}, call| input(call, InputCommand::Paste),
        ),
        action::<Nothing>(
            "hideKeyboard",
            "Dismisses the keyboard; no error when there is none.",
            |Nothing {}, call| input(call, InputCommand::HideKeyboard),
        ),
        action::<PressKey>(
            "pressKey",
            "Presses a key: BACK (Android only), ENTER, HOME, BACKSPACE, TAB or ESCAPE.",
            body!(|arguments, call| press(call, arguments.key_code.into()).await),
        ),
        action::<Nothing>(
            "pressBack",
            "Goes back one screen: Android's back key, on iOS a swipe from the left edge.",
            body!(|Nothing {}, call| back(call).await),
        ),
    ]
}

fn input<'a>(call: &'a Call<'a>, command: InputCommand) -> Answering<'a> {
    Box::pin(async move { call.act(Command::Input(command)).await })
}

/// Types and, if so, puts the keyboard away, which would cover what is touched next.
pub(super) async fn type_text(
    call: &Call<'_>,
    text: String,
    hide_keyboard: bool,
) -> Result<Answer, ToolError> {
    let answer = call.act(Command::Input(InputCommand::Text(text))).await?;
    if hide_keyboard {
        // A keyboard that stays matters only once it covers something, and is reported then.
        call.act(Command::Input(InputCommand::HideKeyboard)).await?;
    }
    Ok(answer)
}

async fn type_random(arguments: InputTextRandom, call: &Call<'_>) -> Result<Answer, ToolError> {
    let InputTextRandom {
        variable,
        prefix,
        digit_count,
        hide_keyboard_after,
    } = arguments;
    if variable.trim().is_empty() {
        return Err(ToolError::failed("`variable` is empty"));
    }
    if !(1..=MOST_DIGITS).contains(&digit_count) {
        return Err(ToolError::failed(format!(
            "invalid `digitCount` {digit_count}: expected 1 to {MOST_DIGITS}"
        )));
    }
    let text: String = prefix
        .chars()
        .chain(digits().take(digit_count as usize))
        .collect();
    // Remembered first: should typing fail half-way, a later clean-up can still look for it.
    call.session.memory().remember(&variable, &text);
    let mut answer = type_text(call, text.clone(), hide_keyboard_after).await?;
    answer.text = Some(format!("typed {text} and remembered it as {variable}"));
    Ok(answer)
}

/// Random digits without end. The keys of the standard library's hash maps are random enough for
/// texts that only have to differ from those of earlier runs.
fn digits() -> impl Iterator<Item = char> {
    std::iter::repeat_with(|| {
        let number = RandomState::new().build_hasher().finish();
        char::from(b'0' + u8::try_from(number % 10).unwrap_or(0))
    })
}

arguments! {
    struct InputText(reasoning) {
        /// The text, any Unicode.
        text: String,
        /// Put the keyboard away afterwards.
        #[serde(default = "yes")]
        hide_keyboard_after: bool,
    }

    struct InputTextRandom {
        /// The name under which the text is remembered, for `{{name}}`.
        variable: String,
        /// What the text begins with.
        #[serde(default = "usual_prefix")]
        prefix: String,
        /// How many random digits follow.
        #[serde(default = "number::<6, u32>")]
        digit_count: u32,
        /// Put the keyboard away afterwards.
        #[serde(default = "yes")]
        hide_keyboard_after: bool,
    }
}

fn usual_prefix() -> String {
    "TBZ-".to_owned()
}

arguments! {
    struct EraseText {
        /// How many characters; all when not given.
        characters_to_erase: Option<u32>,
    }

    struct SetClipboard {
        /// The text.
        text: String,
    }

    struct PressKey {
        /// BACK, ENTER, HOME, BACKSPACE, TAB or ESCAPE.
        #[serde(deserialize_with = "caseless")]
        key_code: PressKeyCode,
    }
}

words! {
    enum PressKeyCode as "UPPERCASE", for Key { Back, Enter, Home, Backspace, Tab, Escape }
}
