//! What is on a page, read by one script (`page/reading.js`) in every document that it shows, its
//! frames among them.
//!
//! The script is a selector engine: its questions are selectors, `packtrain={"do":"read"}`, and so go
//! wherever Playwright's selectors go, into frames of any origin.

use std::collections::BTreeMap;
use std::time::Duration;

use packtrain_drivers::{Defect, DriverError, Hidden, Rect};
use parking_lot::Mutex;
use playwright_rs::Error;
use playwright_rs::protocol::{BrowserContext, Page};
use playwright_rs::server::channel_owner::ChannelOwner;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::aria::Aria;
use crate::wire;

/// The engine's name in selectors.
const ENGINE: &str = "packtrain";
const SOURCE: &str = concat!(
    "(",
    include_str!("page/reading.js"),
    ")(",
    include_str!("page/layout.js"),
    ",",
    include_str!("page/lane.js"),
    ",",
    include_str!("page/still.js"),
    ")"
);
/// A reading of the page answers at once, or the page hangs.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// A frame that hangs delays nothing else.
const FRAME_TIMEOUT: Duration = Duration::from_secs(4);
/// What so many numbers were given to is known.
const MAX_NUMBERS: usize = 20_000;
/// A document has no more lines.
const MAX_ROWS: u32 = 20_000;
/// More documents are not read.
const MAX_DOCUMENTS: usize = 100;

/// A document of a tab: the page's own, or a frame's. It leads selectors there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place(String);

impl Place {
    /// A selector that is looked for in this document.
    pub(crate) fn selector(&self, inner: &str) -> String {
        format!("{}{inner}", self.0)
    }

    pub(crate) const fn is_page(&self) -> bool {
        self.0.is_empty()
    }

    fn frame(&self, frame: u32) -> Self {
        Self(format!(
            "{}{ENGINE}=f{frame} >> internal:control=enter-frame >> ",
            self.0
        ))
    }
}

/// Which frames count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Whatever is there.
    All,
    /// Those that can be seen.
    Shown,
}

/// A line of the tree, as the script tells it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Row {
    #[serde(rename = "d")]
    pub(crate) depth: usize,
    pub(crate) role: String,
    pub(crate) name: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) level: Option<u32>,
    pub(crate) states: Vec<String>,
    /// Left, top, width, height.
    #[serde(rename = "box")]
    pub(crate) area: Option<[f64; 4]>,
    /// Its number in the list; 0 where it is listed and has none.
    #[serde(rename = "e")]
    pub(crate) number: Option<u32>,
    #[serde(rename = "f")]
    pub(crate) frame: Option<u32>,
    pub(crate) css: Option<String>,
    /// Why what it shows cannot be read.
    pub(crate) unread: Option<String>,
}

/// Where a frame shows its document.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Inner {
    frame: u32,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    /// How much larger than its own units it is drawn, each way.
    x: f64,
    y: f64,
    shown: bool,
}

/// A document, as the script tells it.
#[derive(Debug, Deserialize)]
pub(crate) struct Document {
    serial: u32,
    rows: Vec<Row>,
    title: String,
    location: String,
    width: f64,
    height: f64,
    frames: Vec<Inner>,
    #[serde(default)]
    masked: Vec<Option<Vec<Rect>>>,
    #[serde(default)]
    hidden: Vec<Hidden>,
    #[serde(default)]
    defects: Vec<Defect>,
}

impl Document {
    pub(crate) fn has_frames(&self) -> bool {
        !self.frames.is_empty()
    }
}

/// What is read of a page.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadOptions<'a> {
    pub(crate) boxes: bool,
    pub(crate) css: bool,
    /// The next number for what is listed; without it nothing gets one.
    pub(crate) numbers: Option<&'a Numbers>,
    /// The layout, with where these CSS selectors match.
    pub(crate) masks: Option<&'a [String]>,
}

impl ReadOptions<'_> {
    /// What the script is asked.
    pub(crate) fn question(self) -> Value {
        let mut question = json!({ "do": "read", "boxes": self.boxes, "css": self.css });
        if let Some(numbers) = self.numbers {
            question["number"] = numbers.next().into();
        }
        if let Some(masks) = self.masks {
            question["masks"] = masks.into();
            question["layout"] = true.into();
        }
        question
    }
}

/// The numbers of a session, each given once, and to what: role and name. Nothing is found by that; what
/// is no longer there is called by it.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Mutex<BTreeMap<u32, (String, String)>>);

impl Numbers {
    pub(crate) fn are_given(&self) -> bool {
        !self.0.lock().is_empty()
    }

    fn next(&self) -> u32 {
        self.0
            .lock()
            .last_key_value()
            .map_or(1, |(last, _)| last + 1)
    }

    fn called(&self, number: u32) -> Option<(String, String)> {
        self.0.lock().get(&number).cloned()
    }

    fn give(&self, number: u32, role: &str, name: &str) {
        let mut given = self.0.lock();
        given.insert(number, (role.to_owned(), name.to_owned()));
        if given.len() > MAX_NUMBERS {
            given.pop_first();
        }
    }
}

/// A page that was read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) aria: Aria,
    pub(crate) title: Option<String>,
    pub(crate) location: String,
    /// Width and height of what is shown of it.
    pub(crate) screen: (f64, f64),
    pub(crate) masked: Vec<Option<Vec<Rect>>>,
    pub(crate) hidden: Vec<Hidden>,
    pub(crate) defects: Vec<Defect>,
}

/// What became of the element that a number was given to.
#[derive(Debug, Deserialize)]
pub(crate) struct NumberedElement {
    state: State,
    /// What it was when it got its number: `button "Save"`.
    #[serde(default)]
    pub(crate) was: String,
    /// What it is now, or, when it is gone, what is there in its stead.
    #[serde(default)]
    pub(crate) is: Option<String>,
    /// The number of that.
    #[serde(default)]
    pub(crate) number: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Same,
    Changed,
    Gone,
    Unknown,
}

/// Where a number leads.
#[derive(Debug)]
pub(crate) enum Numbered {
    /// To this element alone, called as it was then: by this selector, and so called.
    Same(String, String),
    /// The element is called otherwise now.
    Changed(NumberedElement),
    /// It is no longer there.
    Gone(NumberedElement),
    /// Nor is the document that it was in.
    Left(NumberedElement),
    /// It was never given.
    Unknown,
}

/// Lets a context's documents answer.
pub(crate) async fn install(context: &BrowserContext) -> Result<(), Error> {
    let engine = json!({ "name": ENGINE, "source": SOURCE, "contentScript": true });
    let params = json!({ "selectorEngine": engine });
    let channel = context.channel();
    channel
        .send_no_result("registerSelectorEngine", params)
        .await
}

/// Lets a page's own document answer scripts in Playwright's world of it.
pub(crate) async fn open(page: &Page) -> Result<bool, Error> {
    ask(page, String::new(), json!({ "do": "open" }), FRAME_TIMEOUT).await
}

/// Reads a page with its frames.
pub(crate) async fn read(page: &Page, wanted: ReadOptions<'_>) -> Result<Reading, DriverError> {
    let page_itself = document(page, &Place::default(), wanted, READ_TIMEOUT).await;
    let page_itself = page_itself.map_err(|error| wire::translate(&error, "read the page"))?;
    Ok(with_frames(page, wanted, page_itself).await)
}

/// The page's own document, with what its frames show.
pub(crate) async fn with_frames(
    page: &Page,
    wanted: ReadOptions<'_>,
    mut first: Document,
) -> Reading {
    let (width, height) = (first.width, first.height);
    let mut reading = Reading {
        title: Some(std::mem::take(&mut first.title)).filter(|title| !title.is_empty()),
        location: std::mem::take(&mut first.location),
        screen: (width, height),
        masked: Vec::new(),
        hidden: Vec::new(),
        defects: Vec::new(),
        aria: Aria::default(),
    };
    let mut lines = Lines::default();
    Box::pin(lines.add(page, wanted, &mut reading, first, Spot::page())).await;
    reading.hidden.truncate(Hidden::MAX);
    reading.aria = Aria::of(lines.rows, lines.documents);
    reading
}

/// What a frame shows that is out of sight.
const NOWHERE: Rect = Rect::new(0.0, 0.0, 0.0, 0.0);

/// Where a document lies in its tab.
#[derive(Debug, Clone)]
struct Spot {
    place: Place,
    depth: usize,
    left: f64,
    top: f64,
    /// How much larger than its own units it is drawn, each way.
    scale: (f64, f64),
    /// What can be seen of it; `None` for all of the page itself.
    window: Option<Rect>,
}

impl Spot {
    const fn page() -> Self {
        Self {
            place: Place(String::new()),
            depth: 0,
            left: 0.0,
            top: 0.0,
            scale: (1.0, 1.0),
            window: None,
        }
    }

    fn frame(&self, inner: &Inner, depth: usize) -> Self {
        let own = Rect::new(
            inner.left,
            inner.top,
            inner.left + inner.width,
            inner.top + inner.height,
        );
        let moved = self.moved(own);
        Self {
            place: self.place.frame(inner.frame),
            depth,
            left: moved.left,
            top: moved.top,
            scale: (self.scale.0 * inner.x, self.scale.1 * inner.y),
            window: Some(self.cut(moved).unwrap_or(NOWHERE)),
        }
    }

    /// In the coordinates of the screen.
    fn moved(&self, area: Rect) -> Rect {
        let (x, y) = self.scale;
        Rect::new(
            self.left + area.left * x,
            self.top + area.top * y,
            self.left + area.right * x,
            self.top + area.bottom * y,
        )
    }

    /// What the frame leaves of it.
    fn cut(&self, area: Rect) -> Option<Rect> {
        match &self.window {
            Some(window) => area.intersection(window),
            None => Some(area),
        }
    }

    /// Where it is seen on the screen, if at all.
    fn seen(&self, area: Rect) -> Option<Rect> {
        self.cut(self.moved(area))
    }
}

/// The lines of all documents that were read, each with its document and its line there.
#[derive(Debug, Default)]
struct Lines {
    rows: Vec<(Row, usize, usize)>,
    /// Where each is, and the serial number of its reading.
    documents: Vec<(Place, u32)>,
}

impl Lines {
    /// Adds a document, and below each frame what that shows.
    async fn add(
        &mut self,
        page: &Page,
        wanted: ReadOptions<'_>,
        reading: &mut Reading,
        document: Document,
        spot: Spot,
    ) {
        let which = self.documents.len();
        self.documents.push((spot.place.clone(), document.serial));
        for (mask, found) in document.masked.into_iter().enumerate() {
            let seen = |found: Vec<Rect>| found.into_iter().filter_map(|area| spot.seen(area));
            let found = found.map(|found| seen(found).collect::<Vec<_>>());
            match reading.masked.get_mut(mask) {
                None => reading.masked.push(found),
                Some(known) => {
                    if let Some(found) = found {
                        known.get_or_insert_default().extend(found);
                    }
                }
            }
        }
        reading.hidden.extend(document.hidden);
        for mut defect in document.defects {
            defect.at = defect.at.and_then(|area| spot.seen(area));
            reading.defects.push(defect);
        }
        for (line, mut row) in document.rows.into_iter().enumerate() {
            // A frame's document is the frame.
            if which > 0 && row.depth == 0 && row.role == "document" {
                let Some(text) = row.text.take() else {
                    continue;
                };
                row = Row {
                    depth: 1,
                    role: "text".to_owned(),
                    name: Some(text),
                    ..Row::default()
                };
            }
            row.depth += spot.depth;
            let area = row
                .area
                .map(|[left, top, width, height]| Rect::new(left, top, left + width, top + height));
            row.area = area.and_then(|area| spot.seen(area)).map(|area| {
                [
                    area.left,
                    area.top,
                    area.right - area.left,
                    area.bottom - area.top,
                ]
                .map(f64::round)
            });
            let depth = row.depth;
            let frame = row.frame;
            self.rows.push((row, which, line));
            let inner = document
                .frames
                .iter()
                .find(|inner| frame == Some(inner.frame) && inner.shown);
            let Some(inner) = inner else { continue };
            let inner = spot.frame(inner, depth);
            let read = if self.documents.len() < MAX_DOCUMENTS {
                self::document(page, &inner.place, wanted, FRAME_TIMEOUT)
                    .await
                    .map_err(|error| wire::reason(&error))
            } else {
                Err(format!("{MAX_DOCUMENTS} documents are read at most"))
            };
            match read {
                Ok(document) => {
                    Box::pin(self.add(page, wanted, reading, document, inner)).await;
                }
                Err(why) => {
                    if let Some((row, ..)) = self.rows.last_mut() {
                        row.unread = Some(why);
                    }
                }
            }
        }
    }
}

async fn document(
    page: &Page,
    place: &Place,
    wanted: ReadOptions<'_>,
    limit: Duration,
) -> Result<Document, Error> {
    let asked = ask::<Document>(page, place.selector(""), wanted.question(), limit).await;
    if let (Err(_), Some(numbers)) = (&asked, wanted.numbers) {
        // It may have given numbers anyway.
        numbers.give(numbers.next() + MAX_ROWS, "", "");
    }
    let document = asked?;
    if let Some(numbers) = wanted.numbers {
        for row in &document.rows {
            if let Some(number) = row.number {
                numbers.give(number, &row.role, row.name.as_deref().unwrap_or_default());
            }
        }
    }
    Ok(document)
}

/// Asks the script where `before` leads.
async fn ask<T: DeserializeOwned>(
    page: &Page,
    before: String,
    question: Value,
    limit: Duration,
) -> Result<T, Error> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(default)]
        value: String,
    }
    let frame = wire::frame_of(page).await?;
    let params = json!({ "selector": format!("{before}{ENGINE}={question}"), "strict": false });
    let answer: Answer = wire::ask(&frame, "textContent", params, limit).await?;
    Ok(serde_json::from_str(&answer.value)?)
}

/// Whether a tab shows anything in frames.
pub(crate) async fn has_frames(page: &Page) -> bool {
    let frame = wire::frame_of(page).await;
    frame.is_ok_and(|frame| !frame.child_frames().is_empty())
}

/// The documents of a tab, the page's own first. A frame that does not answer is left out.
pub(crate) async fn places(page: &Page, which: Frames) -> Vec<Place> {
    let mut places = vec![Place::default()];
    if !has_frames(page).await {
        return places;
    }
    let mut at = 0;
    while at < places.len() && places.len() < MAX_DOCUMENTS {
        let limit = if at == 0 { READ_TIMEOUT } else { FRAME_TIMEOUT };
        let place = places[at].clone();
        let asked = ask::<Vec<Inner>>(page, place.selector(""), json!({ "do": "frames" }), limit);
        let inner = asked.await.unwrap_or_default();
        let counts = |inner: &&Inner| inner.shown || which == Frames::All;
        places.extend(
            inner
                .iter()
                .filter(counts)
                .map(|inner| place.frame(inner.frame)),
        );
        at += 1;
    }
    places.truncate(MAX_DOCUMENTS);
    places
}

/// Looks for the element that got a number.
pub(crate) async fn numbered(
    page: &Page,
    number: u32,
    numbers: &Numbers,
) -> Result<Numbered, DriverError> {
    let places = places(page, Frames::All).await;
    for place in &places {
        let question = json!({ "do": "who", "number": number, "next": numbers.next() });
        let Some(found) = whereabouts(page, place, question, numbers).await? else {
            continue;
        };
        match found.state {
            State::Same => {
                let selector = place.selector(&format!("{ENGINE}=e{number}"));
                return Ok(Numbered::Same(selector, found.was));
            }
            State::Changed => return Ok(Numbered::Changed(found)),
            State::Gone => return Ok(Numbered::Gone(found)),
            State::Unknown => {}
        }
    }
    // Its document is gone, too.
    let Some((role, name)) = numbers.called(number) else {
        return Ok(Numbered::Unknown);
    };
    let mut gone = None;
    for place in &places {
        let question =
            json!({ "do": "called", "role": role, "name": name, "next": numbers.next() });
        let found = whereabouts(page, place, question, numbers).await?;
        let is_there = found.as_ref().is_some_and(|found| found.is.is_some());
        gone = gone.filter(|_| !is_there).or(found);
        if is_there {
            break;
        }
    }
    Ok(gone.map_or(Numbered::Unknown, Numbered::Left))
}

/// Asks a document what became of something; `None` when it is a frame that does not answer.
async fn whereabouts(
    page: &Page,
    place: &Place,
    question: Value,
    numbers: &Numbers,
) -> Result<Option<NumberedElement>, DriverError> {
    let limit = if place.is_page() {
        READ_TIMEOUT
    } else {
        FRAME_TIMEOUT
    };
    match ask::<NumberedElement>(page, place.selector(""), question, limit).await {
        Ok(found) => {
            if let (Some(number), Some(is)) = (found.number, &found.is) {
                let (role, name) = is.split_once(' ').unwrap_or((is, ""));
                numbers.give(
                    number,
                    role,
                    &serde_json::from_str::<String>(name).unwrap_or_default(),
                );
            }
            Ok(Some(found))
        }
        Err(error) if place.is_page() => Err(wire::translate(&error, "read the page")),
        Err(_) => Ok(None),
    }
}

/// A line of a reading, as long as no other follows.
pub(crate) fn line(place: &Place, serial: u32, line: usize) -> String {
    place.selector(&format!("{ENGINE}=#{serial}.{line}"))
}

/// How many of the elements that `selector` matches answer a question with yes.
pub(crate) async fn count(page: &Page, selector: &str, question: &Value) -> Result<u32, Error> {
    let frame = wire::frame_of(page).await?;
    wire::count(&frame, &format!("{selector} >> {ENGINE}={question}")).await
}

/// Why the first element that `selector` matches cannot be seen, in words that follow "but"; `None` for
/// one that can be, or when nothing matches.
pub(crate) async fn why_unseen(page: &Page, selector: &str) -> Option<String> {
    let frame = wire::frame_of(page).await.ok()?;
    for place in places(page, Frames::All).await {
        let selector = place.selector(selector);
        if !matches!(wire::count(&frame, &selector).await, Ok(1..)) {
            continue;
        }
        let before = format!("{selector} >> nth=0 >> ");
        let why = ask::<Option<String>>(page, before, json!({ "do": "why" }), FRAME_TIMEOUT);
        return why.await.ok().flatten();
    }
    None
}
