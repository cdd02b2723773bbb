//! A phone whose screen lies in memory: it answers with Android's tree or with iOS's, keeps a list
//! of what it was told, and changes when it is touched or waited for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::selector::list_refs;
use packtrain_drivers::tree::{AndroidNode, IosNode};
use packtrain_drivers::{
    ActionReport, AppCommand, Command, CommandContext, DeviceId, DeviceInfo, DriverError,
    EventSink, InputCommand, NodeDetail, Observation, Platform, Point, Rect, ScreenMark,
    Screenshot, Size, Snapshot, SnapshotDetail, Tree, TreeBuilder,
};
use packtrain_testing::Script;
use parking_lot::{Mutex, MutexGuard};
use serde_json::json;

/// The screen of every phone here.
pub(crate) const SCREEN: Size = Size::new(1000.0, 2000.0);

/// Something that happens to the screen.
pub(crate) type Change = Box<dyn FnOnce(&mut World) + Send>;

/// An element of the screen, in words that both platforms have.
#[derive(Clone, Default)]
pub(crate) struct Element {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) hint: String,
    pub(crate) id: &'static str,
    pub(crate) bounds: Option<Rect>,
    pub(crate) invisible: bool,
    pub(crate) disabled: bool,
    pub(crate) selected: bool,
    pub(crate) checked: bool,
    pub(crate) children: Vec<Element>,
}

pub(crate) fn element(kind: &'static str, text: &str) -> Element {
    Element {
        kind,
        text: text.to_owned(),
        ..Element::default()
    }
}

pub(crate) fn label(text: &str) -> Element {
    element("StaticText", text)
}

pub(crate) fn button(text: &str) -> Element {
    element("Button", text)
}

pub(crate) fn field(hint: &str, text: &str) -> Element {
    Element {
        hint: hint.to_owned(),
        ..element("TextField", text)
    }
}

impl Element {
    pub(crate) fn at(mut self, left: f64, top: f64, right: f64, bottom: f64) -> Self {
        self.bounds = Some(Rect::new(left, top, right, bottom));
        self
    }

    /// A line of its own, 100 high.
    pub(crate) fn line(self, top: f64) -> Self {
        self.at(0.0, top, 1000.0, top + 100.0)
    }

    pub(crate) fn id(mut self, id: &'static str) -> Self {
        self.id = id;
        self
    }

    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    pub(crate) fn with(mut self, children: Vec<Self>) -> Self {
        self.children = children;
        self
    }

    fn android(&self) -> NodeDetail {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let class = match self.kind {
            "StaticText" => "android.widget.TextView",
            "TextField" => "android.widget.EditText",
            "Button" => "android.widget.Button",
            "Switch" => "android.widget.Switch",
            _ => "android.view.ViewGroup",
        };
        NodeDetail::Android(Box::new(AndroidNode {
            class_name: Some(class.to_owned()),
            package: Some("com.example.shop".to_owned()),
            resource_id: some(self.id).map(|id| format!("com.example.shop:id/{id}")),
            text: some(&self.text),
            content_description: some(&self.name),
            hint_text: some(&self.hint),
            is_enabled: !self.disabled,
            is_selected: self.selected,
            is_checked: self.checked,
            is_checkable: self.kind == "Switch",
            is_clickable: matches!(self.kind, "Button" | "Switch"),
            is_editable: self.kind == "TextField",
            is_visible: !self.invisible,
            ..AndroidNode::default()
        }))
    }

    fn ios(&self) -> NodeDetail {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (label, value) = match self.kind {
            // WebDriverAgent gives an empty field the value of its placeholder.
            "TextField" => (
                some(&self.name),
                some(&self.text).or_else(|| some(&self.hint)),
            ),
            "StaticText" => (some(&self.text), some(&self.text)),
            "Switch" => (
                some(&self.name),
                Some(if self.checked { "1" } else { "0" }.to_owned()),
            ),
            _ if self.name.is_empty() => (some(&self.text), None),
            _ => (some(&self.name), some(&self.text)),
        };
        NodeDetail::Ios(Box::new(IosNode {
            element_type: Some(self.kind.to_owned()),
            identifier: some(self.id),
            name: some(self.id).or_else(|| label.clone()),
            label,
            value,
            placeholder: some(&self.hint),
            is_enabled: !self.disabled,
            is_selected: self.selected,
            is_visible: !self.invisible,
            is_accessible: true,
            ..IosNode::default()
        }))
    }
}

/// A list that can be scrolled, each line 200 high.
#[derive(Clone, Copy)]
pub(crate) struct List {
    pub(crate) lines: u32,
    pub(crate) offset: f64,
}

impl List {
    pub(crate) const fn of(lines: u32) -> Self {
        Self { lines, offset: 0.0 }
    }

    fn scroll(&mut self, by: f64) {
        let end = (f64::from(self.lines) * 200.0 - SCREEN.height).max(0.0);
        self.offset = (self.offset + by).clamp(0.0, end);
    }

    fn elements(self) -> impl Iterator<Item = Element> {
        (1..=self.lines).filter_map(move |line| {
            let top = f64::from(line - 1) * 200.0 - self.offset;
            let in_tree = top > -400.0 && top < SCREEN.height + 400.0;
            in_tree.then(|| label(&format!("Item {line}")).at(0.0, top, 1000.0, top + 200.0))
        })
    }
}

/// Everything about a phone that can change.
pub(crate) struct World {
    platform: Platform,
    pub(crate) elements: Vec<Element>,
    pub(crate) list: Option<List>,
    /// What happens when an element with this text is touched.
    pub(crate) on_touch: Vec<(&'static str, Change)>,
    /// What happens next while somebody waits for a change.
    pub(crate) coming: VecDeque<Change>,
    /// What happens when the keyboard is put away.
    pub(crate) on_hide: Option<Change>,
    /// What happens when somebody waits for the screen to rest.
    pub(crate) on_settle: Option<Change>,
    /// Whether the screen never comes to rest.
    pub(crate) restless: bool,
    ticks: u32,
    commands: Vec<Command>,
}

impl World {
    pub(crate) fn show(&mut self, elements: Vec<Element>) {
        self.elements = elements;
    }

    fn tree(&self) -> Tree {
        let mut builder = TreeBuilder::new();
        let all: Vec<_> = self
            .elements
            .iter()
            .cloned()
            .chain(self.list.into_iter().flat_map(List::elements))
            .chain((self.ticks > 0).then(|| label(&"·".repeat(self.ticks as usize))))
            .collect();
        if !all.is_empty() {
            // On iOS the root of every screen bears the app's name.
            let root = element(
                "Application",
                if self.platform == Platform::Ios {
                    "Shop"
                } else {
                    ""
                },
            )
            .at(0.0, 0.0, SCREEN.width, SCREEN.height);
            self.build(&root.with(all), &mut builder);
        }
        builder.finish()
    }

    fn build(&self, element: &Element, builder: &mut TreeBuilder) {
        let detail = match self.platform {
            Platform::Android => element.android(),
            Platform::Ios => element.ios(),
            Platform::Web => unreachable!("no page here"),
        };
        builder.open(element.bounds, detail);
        for child in &element.children {
            self.build(child, builder);
        }
        builder.close();
    }

    fn touched(&mut self, at: Point) {
        let hit = |element: &Element, text: &str| {
            element.text == text && element.bounds.is_some_and(|bounds| bounds.contains(at))
        };
        let place = self.on_touch.iter().position(|(text, _)| {
            let mut all = self.elements.clone();
            all.extend(
                self.elements
                    .iter()
                    .flat_map(|outer| outer.children.clone()),
            );
            all.iter().any(|element| hit(element, text))
        });
        if let Some(place) = place {
            let (_, change) = self.on_touch.remove(place);
            change(self);
        }
    }

    fn snapshot(&self, detail: SnapshotDetail) -> Observation {
        let tree = self.tree();
        let list = list_refs(&tree, SCREEN, detail);
        Observation::Snapshot(Box::new(Snapshot {
            mark: ScreenMark::of(&tree),
            tree,
            text: list.text,
            refs: list.refs,
            location: None,
            title: None,
            screen: SCREEN,
        }))
    }

    fn answer(&mut self, command: &Command) -> Result<Observation, DriverError> {
        let done = Ok(Observation::Done(ActionReport::default()));
        match command {
            Command::Snapshot(detail) => Ok(self.snapshot(*detail)),
            Command::Screenshot => Ok(Observation::Screenshot(Screenshot {
                png: Vec::new(),
                screen: SCREEN,
            })),
            Command::AwaitChange { since, limit } => {
                let changes = |world: &Self| ScreenMark::of(&world.tree()) != *since;
                // A wait for a still screen asks whether it has changed already.
                if limit.is_zero() {
                    if let Some(change) = self.on_settle.take() {
                        change(self);
                    }
                } else if !changes(self)
                    && let Some(change) = self.coming.pop_front()
                {
                    change(self);
                }
                self.ticks += u32::from(self.restless);
                // Nothing else will ever change: as if the limit had passed.
                Ok(if changes(self) {
                    self.snapshot(SnapshotDetail::default())
                } else {
                    Observation::Unchanged
                })
            }
            Command::Input(command) => {
                match command {
                    InputCommand::Tap { at } | InputCommand::LongPress { at, .. } => {
                        self.touched(*at);
                    }
                    InputCommand::Swipe { from, to, .. } => {
                        if let Some(list) = &mut self.list {
                            list.scroll(from.y - to.y);
                        }
                    }
                    InputCommand::HideKeyboard => {
                        if let Some(change) = self.on_hide.take() {
                            change(self);
                        }
                    }
                    _ => {}
                }
                done
            }
            Command::App(AppCommand::List { system }) => {
                let apps = [
                    json!({"id": "com.example.shop", "name": "Shop", "version": "1.2", "system": false}),
                    json!({"id": "com.android.settings", "system": true}),
                ];
                let listed = apps
                    .into_iter()
                    .filter(|app| *system || app["system"] == json!(false));
                Ok(Observation::Json(listed.collect()))
            }
            Command::Web(_) => Err(DriverError::Invalid("this is no page".into())),
            _ => done,
        }
    }
}

/// A phone and what it was told.
pub(crate) struct Phone {
    pub(crate) id: DeviceId,
    info: DeviceInfo,
    world: Mutex<World>,
}

impl Phone {
    pub(crate) fn new(platform: Platform) -> Arc<Self> {
        let id = DeviceId::new(platform, "memory");
        Arc::new(Self {
            info: DeviceInfo {
                id: id.clone(),
                driver: "memory".into(),
                classifiers: vec![platform.as_str().into(), "phone".into()],
                model: "memory".into(),
                system: "memory".into(),
                screen: SCREEN,
            },
            id,
            world: Mutex::new(World {
                platform,
                elements: Vec::new(),
                list: None,
                on_touch: Vec::new(),
                coming: VecDeque::new(),
                on_hide: None,
                on_settle: None,
                restless: false,
                ticks: 0,
                commands: Vec::new(),
            }),
        })
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock()
    }

    /// Everything it was told, in order.
    pub(crate) fn told(&self) -> Vec<Command> {
        self.world().commands.clone()
    }

    /// What it was told to do, looking and waiting aside.
    pub(crate) fn did(&self) -> Vec<Command> {
        let mut told = self.told();
        told.retain(|command| {
            !matches!(command, Command::Snapshot(_) | Command::AwaitChange { .. })
        });
        told
    }

    /// How often its screen was looked at.
    pub(crate) fn looks(&self) -> usize {
        let told = self.told();
        told.iter()
            .filter(|command| matches!(command, Command::Snapshot(_)))
            .count()
    }

    /// For how long it was waited for changes, each time.
    pub(crate) fn waits(&self) -> Vec<Duration> {
        let told = self.told();
        told.iter()
            .filter_map(|command| match command {
                Command::AwaitChange { limit, .. } if !limit.is_zero() => Some(*limit),
                _ => None,
            })
            .collect()
    }
}

impl Script for Phone {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    async fn execute(
        &self,
        command: Command,
        _: &CommandContext,
        _: &EventSink,
    ) -> Result<Observation, DriverError> {
        let mut world = self.world();
        let answer = world.answer(&command);
        world.commands.push(command);
        answer
    }
}
