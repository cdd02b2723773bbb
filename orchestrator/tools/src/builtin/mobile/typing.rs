//! Tools that type, erase and press keys, in whatever has the focus.

use std::hash::{BuildHasher, Hasher, RandomState};

use packtrain_drivers::{InputCommand, Key};

use super::input;
use crate::builtin::{Nothing, caseless, number, yes};
use crate::call::Call;
use crate::mobile::PHONES;
use crate::mobile::act::{back, press};
use crate::tool::{Answer, ToolError};

/// Most digits of a random text.
const MOST_DIGITS: u32 = 100;

tools! { PHONES;
    /// Types a text into the field that has the focus and dismisses the keyboard.
    Action inputText InputText(reasoning) {
        /// The text, any Unicode.
        text: String,
        /// Put the keyboard away afterwards.
        #[serde(default = "yes")]
        hide_keyboard_after: bool,
    }
    |arguments, call| type_text(call, arguments.text, arguments.hide_keyboard_after).await;

    /// Types a prefix and random digits, and remembers the text under a name.
    Action inputTextRandom InputTextRandom {
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
    .remembering("variable")
    |arguments, call| type_random(arguments, call).await;

    /// Removes characters before the cursor, or all when no number is given.
    Action eraseText EraseText {
        /// How many characters; all when not given.
        characters_to_erase: Option<u32>,
    }
    |arguments, call| input(call, InputCommand::Erase(arguments.characters_to_erase)).await;

    /// Empties the field that has the focus.
    Action clearText Nothing |Nothing {}, call| input(call, InputCommand::Erase(None)).await;

    /// Puts a text on the clipboard.
    Action mobile_setClipboard SetClipboard {
        /// The text.
        text: String,
    }
    |arguments, call| input(call, InputCommand::SetClipboard(arguments.text)).await;

    /// Pastes the clipboard into the field that has the focus.
    Action mobile_pasteClipboard Nothing |Nothing {}, call| input(call, InputCommand::Paste).await;

    /// Dismisses the keyboard; no error when there is none.
    Action hideKeyboard Nothing |Nothing {}, call| input(call, InputCommand::HideKeyboard).await;

    /// Presses a key: BACK (Android only), ENTER, HOME, BACKSPACE, TAB or ESCAPE.
    Action pressKey PressKey {
        /// BACK, ENTER, HOME, BACKSPACE, TAB or ESCAPE.
        #[serde(deserialize_with = "caseless")]
        key_code: PressKeyCode,
    }
    |arguments, call| press(call, arguments.key_code.into()).await;

    /// Goes back one screen: Android's back key, on iOS a swipe from the left edge.
    Action pressBack Nothing |Nothing {}, call| back(call).await;
}

words! {
    enum PressKeyCode as "UPPERCASE", for Key { Back, Enter, Home, Backspace, Tab, Escape }
}

fn usual_prefix() -> String {
    "TBZ-".to_owned()
}

/// Types and, if so, puts the keyboard away, which would cover what is touched next.
pub(super) async fn type_text(
    call: &Call<'_>,
    text: String,
    hide_keyboard: bool,
) -> Result<Answer, ToolError> {
    let answer = input(call, InputCommand::Text(text)).await?;
    if hide_keyboard {
        // A keyboard that stays matters only once it covers something, and is reported then.
        input(call, InputCommand::HideKeyboard).await?;
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
