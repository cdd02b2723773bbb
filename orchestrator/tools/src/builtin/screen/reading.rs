//! `readScreen`: the list of a screen, at once, when it shows something, or when it has come to rest.

use std::time::Duration;

use packtrain_device_actors::CommandError;
use packtrain_drivers::{
    Command, DriverError, NodeDetail, Platform, Snapshot, SnapshotDetail, SnapshotRef, TextMatch,
    WebCommand,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::Call;
use crate::mobile::watch::{self, Rest, Watch};
use crate::mobile::words::text_of;
use crate::tool::{Answer, ToolError};

/// How long a screen that goes on moving is waited for.
const REST_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest label that a list of a phone's screen does not cut.
const MAX_LABEL: usize = 120;
/// The most elements that are named when several match.
const MAX_NAMED: usize = 8;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct ReadScreen {
    /// Where each element is.
    bounds: bool,
    /// Elements that are scrolled out of sight, and the keyboard's keys.
    offscreen: bool,
    /// What to wait for.
    find: Option<ElementCriteria>,
    /// Whether it is an error when that does not come.
    required: bool,
    /// What to wait for without that.
    settle: Settle,
    /// How long to wait for what is sought, or for a change to begin, in milliseconds.
    timeout_ms: Option<u64>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum Settle {
    #[default]
    None,
    /// The effect of what was done last, and rest after that.
    Change,
    Rest,
}

/// An element in the words of the list; what is not said does not matter.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ElementCriteria {
    /// Its reference.
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// That it is a field of a phone, which takes text.
    field: bool,
    /// Its role, as the list has it.
    role: Option<String>,
    /// Its name: in full, or else whole words of it, in any case.
    name: Option<String>,
    /// A text on the screen, in any case.
    text: Option<String>,
    /// That there is none.
    gone: bool,
}

impl ReadScreen {
    pub(super) async fn read(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        if self.find.as_ref().is_some_and(ElementCriteria::is_blank) {
            let what = "invalid `find`: expected a role, a name or a text that is not blank";
            return Err(ToolError::failed(what));
        }
        let timeout = self.timeout_ms.map(Duration::from_millis);
        let (snapshot, met) = match &self.find {
            Some(sought) => sought.awaited(call, timeout.unwrap_or_default()).await?,
            None => (settled(self.settle, timeout, call).await?, true),
        };
        if self.required && !met {
            let what = self.find.unwrap_or_default().unmet();
            let waited = timeout.unwrap_or_default().as_secs_f64();
            return Err(ToolError::failed(format!("{what} {waited:.1} s")));
        }
        // A look that waits has the usual details, and on a page references that do not last.
        let is_web = call.session.platform() == Platform::Web;
        let snapshot = match snapshot {
            Some(snapshot) if !is_web && !self.bounds && !self.offscreen => snapshot,
            Some(_) | None => self.look(call).await?,
        };
        call.session.screen().handed_out(&snapshot.refs);
        let mut data = json!({
            "location": snapshot.location,
            "title": snapshot.title,
            "screen": snapshot.screen,
        });
        if self.bounds {
            data["refs"] = json!(snapshot.refs);
        }
        if let Some(sought) = &self.find {
            let found = sought.matches(&snapshot);
            data["met"] = json!(met);
            data["matched"] = json!(found.len());
            let named = found.iter().take(MAX_NAMED);
            let named =
                named.map(|it| json!({ "ref": it.name, "role": it.role, "name": it.label }));
            data["found"] = named.collect();
            let is_on_page = met && !sought.gone && !sought.is_met(&snapshot);
            let text = sought.text.as_ref().filter(|_| is_on_page);
            let line = sought.only_line(&snapshot);
            data["line"] = json!(line.or_else(|| Some(format!("text: {}", text?))));
        }
        Ok(Answer {
            data: Some(data),
            ..Answer::text(snapshot.text)
        })
    }

    async fn look(&self, call: &Call<'_>) -> Result<Box<Snapshot>, ToolError> {
        let detail = SnapshotDetail {
            bounds: self.bounds,
            offscreen: self.offscreen,
            lasting: true,
            ..SnapshotDetail::default()
        };
        watch::look(call, detail).await
    }
}

/// Looks until the screen is at rest, and before that until what was done last has had an effect.
async fn settled(
    settle: Settle,
    limit: Option<Duration>,
    call: &Call<'_>,
) -> Result<Option<Box<Snapshot>>, ToolError> {
    // A page's driver waits for much by itself; an app shows nothing of what it thinks about.
    let (grace, quiet) = match call.session.platform() {
        Platform::Web => (300, 60),
        Platform::Android | Platform::Ios => (600, 500),
    };
    if settle == Settle::None {
        return Ok(None);
    }
    let before = call.session.screen().before_last_act();
    let mut watch = Watch::new(call, limit.unwrap_or(Duration::from_millis(grace)));
    let mut snapshot = watch.look().await?;
    if settle == Settle::Change && before == Some(snapshot.mark) {
        if !watch.changes_within(watch.left()).await? {
            return Ok(Some(snapshot));
        }
        snapshot = watch.look().await?;
    }
    let mut watch = Watch::new(call, REST_TIMEOUT).starting_from(snapshot);
    let (Rest::Still(snapshot) | Rest::Moving(snapshot)) =
        watch.until_still(Duration::from_millis(quiet)).await?;
    Ok(Some(snapshot))
}

impl ElementCriteria {
    /// Looks until it is there, or gone, or for so long; says which.
    async fn awaited(
        &self,
        call: &Call<'_>,
        limit: Duration,
    ) -> Result<(Option<Box<Snapshot>>, bool), ToolError> {
        let mut watch = Watch::new(call, limit);
        loop {
            let snapshot = watch.look().await?;
            let is_listed = self.is_met(&snapshot);
            let met = match self.gone {
                false => {
                    is_listed
                        || self.is_in_pieces(&snapshot) && self.is_on_page(&snapshot, call).await?
                }
                true => is_listed && !self.is_on_page(&snapshot, call).await?,
            };
            if met || !watch.changes().await? {
                return Ok((Some(snapshot), met));
            }
        }
    }

    /// Whether the list has it in lines that follow one another.
    fn is_in_pieces(&self, snapshot: &Snapshot) -> bool {
        let shown = snapshot.text.lines().flat_map(|line| Line::of(line).shown);
        let all = folded(&shown.collect::<Vec<_>>().join(" "));
        self.words().is_some_and(|words| has_words(&all, &words))
    }

    /// Whether a page shows a text that its list has nowhere: the list breaks a sentence at what stands in
    /// it, and leaves out what is hidden from assistive technology.
    async fn is_on_page(&self, snapshot: &Snapshot, call: &Call<'_>) -> Result<bool, ToolError> {
        let is_web = call.session.platform() == Platform::Web;
        let Some(text) = self.text.as_ref().filter(|_| is_web && self.role.is_none()) else {
            return Ok(false);
        };
        let mut shown = snapshot.text.lines().flat_map(|line| Line::of(line).shown);
        // Also within other words, which the page does not tell apart.
        if shown.any(|shown| folded(&shown).contains(&folded(text))) {
            return Ok(false);
        }
        let command = WebCommand::ExpectText {
            text: text.clone(),
            matching: TextMatch::Contains,
            limit: Some(Duration::from_millis(1)),
        };
        match call.device(Command::Web(command)).await {
            Ok(_) => Ok(true),
            Err(ToolError::Command(CommandError::Driver(DriverError::Unmet { .. }))) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether a word of it is blank, or it has none: that would mean anything.
    fn is_blank(&self) -> bool {
        let words = [&self.reference, &self.role, &self.name, &self.text];
        let is_blank = |word: &String| word.trim().is_empty();
        words.iter().all(|word| word.is_none()) || words.into_iter().flatten().any(is_blank)
    }

    /// The name or the text, as it is compared.
    fn words(&self) -> Option<String> {
        self.name.as_deref().or(self.text.as_deref()).map(folded)
    }

    fn is_of(&self, role: &str) -> bool {
        let wanted = self.role.as_deref();
        wanted.is_none_or(|wanted| role.eq_ignore_ascii_case(wanted.trim()))
    }

    /// The listed elements that it means: those of just this name, or else those that have it in theirs.
    fn matches<'s>(&self, snapshot: &'s Snapshot) -> Vec<&'s SnapshotRef> {
        let words = self.words().unwrap_or_default();
        let matching = |is_named: &dyn Fn(&SnapshotRef, &str) -> bool| {
            let found = snapshot.refs.iter().filter(|listed| {
                // The app as a whole is called by a name that it shows nowhere.
                let is_app = self.role.is_none() && listed.role == "Application";
                let is_it = self
                    .reference
                    .as_ref()
                    .is_none_or(|it| it.trim_matches(['[', ']']) == listed.name);
                let may_be = !self.field || is_field(snapshot, listed);
                !is_app && is_it && may_be && self.is_of(&listed.role) && is_named(listed, &words)
            });
            found.collect::<Vec<_>>()
        };
        // On phones, what a field holds stands behind its name.
        let exactly = matching(&|listed, words| {
            let label = folded(&listed.label);
            let rest = label.strip_prefix(words).filter(|_| !words.is_empty());
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(": ") && is_field(snapshot, listed)
            })
        });
        match exactly.is_empty() {
            true => matching(&|listed, words| has_words(&folded(&listed.label), words)),
            false => exactly,
        }
    }

    /// Whether a line shows it. What is sought by its name is not found by what it holds.
    fn is_shown(&self, line: &Line<'_>) -> bool {
        let words = self.words().unwrap_or_default();
        let most = if self.name.is_some() { 1 } else { 2 };
        let mut shown = line.shown.iter().take(most);
        self.is_of(line.role)
            && (words.is_empty() || shown.any(|text| has_words(&folded(text), &words)))
    }

    /// The line that shows it, when there is one alone, as a reference to what is on it.
    fn only_line(&self, snapshot: &Snapshot) -> Option<String> {
        let lines = snapshot.text.lines().map(Line::of);
        let mut lines = lines.filter(|line| self.is_shown(line));
        let (first, another) = (lines.next()?, lines.next());
        let text = first.shown.first().filter(|_| another.is_none())?;
        Some(match first.is_named {
            true => format!("{} {}", first.role, json!(text)),
            false => format!("text: {text}"),
        })
    }

    fn is_met(&self, snapshot: &Snapshot) -> bool {
        let mut lines = snapshot.text.lines().map(Line::of);
        let is_listed = !self.field && self.reference.is_none();
        let is_there = is_listed && lines.any(|line| self.is_shown(&line))
            || !self.matches(snapshot).is_empty();
        let words = self.words().unwrap_or_default();
        match self.gone {
            false => is_there,
            true => !is_there && is_whole(snapshot) && !is_unlisted(snapshot, &words),
        }
    }

    fn unmet(&self) -> String {
        let quoted = |text: &String| format!("{text:?}");
        let name = self.name.as_ref().or(self.text.as_ref()).map(quoted);
        let field = self.field.then(|| "a field".to_owned());
        let plain = [field, self.reference.clone(), self.role.clone()];
        let words: Vec<_> = plain.into_iter().flatten().chain(name).collect();
        let how = match self.gone {
            true => "still there, or a part of the screen could not be read, after",
            false => "not found within",
        };
        format!("{} was {how}", words.join(" "))
    }
}

/// A line of the list: a role, and what it shows of the screen, a name and a value, without the list's own
/// words for references and states.
struct Line<'l> {
    role: &'l str,
    shown: Vec<String>,
    /// The first of it is a name.
    is_named: bool,
}

impl<'l> Line<'l> {
    fn of(line: &'l str) -> Self {
        let line = line.trim_start();
        let listed = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "));
        let line = listed.map_or(line, |(_, rest)| rest);
        let role = line.split([' ', ':']).next().unwrap_or_default();
        let mut shown = Vec::new();
        let quote = line.find('"');
        let quote = quote.filter(|quote| line.find(": ").is_none_or(|colon| *quote < colon));
        let (mut rest, is_named) = (&line[role.len()..], quote.is_some());
        if let Some(quote) = quote {
            let mut names =
                serde_json::Deserializer::from_str(&line[quote..]).into_iter::<String>();
            match names.next() {
                Some(Ok(name)) => {
                    rest = &line[quote + names.byte_offset()..];
                    shown.push(name);
                }
                _ => shown.push(line[quote..].to_owned()),
            }
        }
        // States stand between a name and a value.
        while let Some((_, after)) = rest
            .strip_prefix(" [")
            .and_then(|state| state.split_once(']'))
        {
            rest = after;
        }
        shown.extend(rest.strip_prefix(": ").map(str::to_owned));
        Self {
            role,
            shown,
            is_named,
        }
    }
}

/// Whether an element of a phone takes text.
fn is_field(snapshot: &Snapshot, listed: &SnapshotRef) -> bool {
    let node = listed.node.and_then(|node| snapshot.tree.get(node));
    node.is_some_and(|node| match &node.detail {
        NodeDetail::Android(node) => node.is_editable,
        NodeDetail::Ios(node) => matches!(
            node.element_type.as_deref(),
            Some("TextField" | "SecureTextField" | "SearchField" | "TextView")
        ),
        NodeDetail::Web(_) => false,
    })
}

/// Whether all of the screen was read, and it shows anything.
fn is_whole(snapshot: &Snapshot) -> bool {
    let text = snapshot.text.trim_start();
    let is_empty = ["(no elements)", "(nothing to interact with or to read)"];
    !text.is_empty()
        && !is_empty.iter().any(|empty| text.starts_with(empty))
        && !text.contains(" (cannot be read: ")
}

/// Whether the words are where the list cuts a long text off, or on one of the keys that it does not name.
fn is_unlisted(snapshot: &Snapshot, words: &str) -> bool {
    let is_cut = |listed: &SnapshotRef| {
        listed.label.ends_with("...") && listed.label.chars().count() > MAX_LABEL
    };
    let is_short = snapshot.text.contains("\n(keyboard, ") || snapshot.refs.iter().any(is_cut);
    let mut texts = snapshot
        .tree
        .iter()
        .filter_map(|(_, node)| text_of(&node.detail));
    is_short && !words.is_empty() && texts.any(|text| has_words(&folded(text), words))
}

/// Whether a text has these words, and not only within other ones: `pay` is not in `repay`. Scripts
/// without capitals need no space between words.
fn has_words(text: &str, words: &str) -> bool {
    let is_lettered = |letter: char| letter.is_lowercase() || letter.is_numeric();
    let joins = |one: Option<char>, other: Option<char>| {
        one.is_some_and(is_lettered) && other.is_some_and(is_lettered)
    };
    let mut places = text.match_indices(words);
    words.is_empty()
        || places.any(|(at, found)| {
            let (before, after) = (&text[..at], &text[at + found.len()..]);
            !joins(before.chars().next_back(), words.chars().next())
                && !joins(words.chars().next_back(), after.chars().next())
        })
}

/// A text as it is compared: in any case, a blank between words.
fn folded(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::tree::IosNode;
    use packtrain_drivers::{NodeId, ScreenMark, Size, Tree, TreeBuilder};

    use super::*;

    /// A tree of one element of iOS.
    fn tree(kind: &str, label: &str) -> Tree {
        let mut tree = TreeBuilder::new();
        let node = IosNode {
            element_type: Some(kind.to_owned()),
            label: Some(label.to_owned()),
            ..IosNode::default()
        };
        tree.open(None, NodeDetail::Ios(Box::new(node)));
        tree.close();
        tree.finish()
    }

    fn screen() -> Snapshot {
        let listed = |name: &str, role: &str, label: &str| SnapshotRef {
            name: name.to_owned(),
            node: (role == "TextField").then_some(NodeId(0)),
            role: role.to_owned(),
            label: label.to_owned(),
            bounds: None,
        };
        Snapshot {
            mark: ScreenMark::of(&Tree::default()),
            tree: tree("TextField", "Email"),
            text: "[e1] button \"Add to cart\"\n[e2] button \"Add\"\ntext: Total  $3".to_owned(),
            refs: vec![
                listed("e1", "button", "Add to cart"),
                listed("e2", "button", "Add"),
                listed("e3", "link", "Add"),
                listed("a1", "Application", "Email"),
                listed("a2", "TextField", "Email: ada"),
                listed("a3", "link", "Email: us"),
            ],
            location: None,
            title: None,
            screen: Size::new(0.0, 0.0),
        }
    }

    fn sought(words: serde_json::Value) -> ElementCriteria {
        serde_json::from_value(words).unwrap()
    }

    #[test]
    fn a_name_in_full_counts_before_one_that_has_it() {
        let screen = screen();
        let found = |words| {
            let sought = sought(words);
            let found = sought.matches(&screen).into_iter();
            found.map(|it| it.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(found(json!({ "name": "add" })), ["e2", "e3"]);
        assert_eq!(found(json!({ "role": "Button", "name": "ADD" })), ["e2"]);
        assert_eq!(found(json!({ "text": "to cart" })), ["e1"]);
        assert_eq!(found(json!({ "text": "Email" })), ["a2"]);
        assert_eq!(found(json!({ "role": "link" })), ["e3", "a3"]);
        assert_eq!(found(json!({ "name": "us", "field": true })), [""; 0]);
        assert_eq!(found(json!({ "ref": "e2", "field": true })), [""; 0]);
        assert_eq!(found(json!({ "ref": "a2", "field": true })), ["a2"]);
    }

    #[test]
    fn a_line_shows_its_name_and_its_value() {
        let shown = |line| Line::of(line).shown;
        let said = r#"[e4] heading "He said \"hi\"" [level=2]"#;
        assert_eq!(shown(said), ["He said \"hi\""]);
        assert_eq!(
            shown(r#"[e2] textbox "Name" [disabled]: Ada"#),
            ["Name", "Ada"]
        );
        assert_eq!(shown(r#"text: "Free": 3"#), [r#""Free": 3"#]);
        assert_eq!(shown(r#"[k1] Button "Go" [id checkout: total]"#), ["Go"]);
        for line in [
            "(keyboard, 44 keys)",
            "SeekBar [state Level: 50]",
            "iframe (cannot be read: it does not answer)",
        ] {
            assert_eq!(shown(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn words_are_not_found_within_others() {
        for (text, words) in [
            ("repay", "pay"),
            ("bookmark", "ok"),
            ("total $12", "total $1"),
        ] {
            assert!(!has_words(text, words), "{text}");
        }
        for (text, words) in [
            ("pay now", "pay"),
            ("total $12", "$12"),
            ("立即支付", "支付"),
        ] {
            assert!(has_words(text, words), "{text}");
        }
    }

    #[test]
    fn nothing_is_gone_while_it_may_be_there() {
        let gone = |text: &str, words: serde_json::Value| {
            let snapshot = Snapshot {
                text: text.to_owned(),
                refs: Vec::new(),
                ..screen()
            };
            sought(words).is_met(&snapshot)
        };
        let pay = || json!({ "role": "button", "name": "Pay", "gone": true });
        assert!(gone("[e1] link \"Pay\"", pay()));
        for text in [
            // As a frame's elements are listed by a look that does not last.
            "button \"Pay\"",
            "link \"Home\"\niframe (cannot be read: it does not answer)",
            "link \"Home\"\ntext (cannot be read: more, cut)",
            "(no elements)",
            "(no elements)\n(keyboard, 44 keys)",
        ] {
            assert!(!gone(text, pay()), "{text}");
        }
        let email = || json!({ "text": "email", "gone": true });
        assert!(gone("link \"Home\"", email()));
        assert!(!gone("link \"Home\"\n(keyboard, 44 keys)", email()));
        assert!(!gone(
            "dialog:\n  text: Sure?",
            json!({ "role": "dialog", "gone": true })
        ));
        assert!(!gone(
            "text: Total",
            json!({ "role": "text", "name": "Total", "gone": true })
        ));
    }

    #[test]
    fn blank_words_mean_nothing() {
        for words in [
            json!({}),
            json!({ "text": " " }),
            json!({ "role": "button", "name": "" }),
        ] {
            assert!(sought(words).is_blank());
        }
        assert!(!sought(json!({ "role": "button" })).is_blank());
    }

    #[test]
    fn a_text_is_there_when_any_line_has_it() {
        let screen = screen();
        let is_met = |words| sought(words).is_met(&screen);
        assert!(is_met(json!({ "text": "total $3" })));
        // What the list says of its own is on no screen.
        for word in ["button", "e1", "2", "text"] {
            assert!(!is_met(json!({ "text": word })), "{word}");
        }
        assert!(!is_met(json!({ "text": "total $3", "gone": true })));
        assert!(!is_met(json!({ "role": "button", "text": "total $3" })));
        assert!(is_met(json!({ "name": "pay", "gone": true })));
        let text = r#"textbox "Comment": my Email is x"#.to_owned();
        let screen = Snapshot { text, ..screen };
        assert!(sought(json!({ "text": "email is" })).is_met(&screen));
        assert!(!sought(json!({ "role": "textbox", "name": "email is" })).is_met(&screen));
    }

    #[test]
    fn a_line_that_alone_shows_a_text_leads_to_it() {
        let line = |text: &str, words| {
            let text = text.to_owned();
            sought(words).only_line(&Snapshot { text, ..screen() })
        };
        let pay = || json!({ "text": "pay" });
        let shown = "link \"Repay\"\nparagraph: Pay in full";
        assert_eq!(line(shown, pay()).unwrap(), "text: Pay in full");
        assert_eq!(
            line("heading \"Pay\" [level=2]", pay()).unwrap(),
            r#"heading "Pay""#
        );
        assert_eq!(line("text: Pay\ntext: Pay", pay()), None);
    }
}
