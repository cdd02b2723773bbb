//! One virtual device as its connections share it: its world in real time, its faults, its
//! pictures, and a list of what clients asked that it could not do.
//!
//! Knows no wire.

mod actions;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::arrivals::Arrivals;
use crate::faults::{Event, Fault, FaultRule, FaultState, Faults};
use crate::latency::{Dice, Latency, VariableDuration};
use crate::paint::{PaintError, Painter};
use crate::shape::{Platform, ScreenMetrics, Shape};
use crate::world::{AppEvent, Catalog, OpenDialog, Snapshot, World, WorldOptions};

/// The most different requests a device remembers that it could not do.
const MAX_UNHANDLED: usize = 256;
/// The most snapshots kept for trees that are told late.
const MAX_STALE: usize = 16;

/// What a device is made of; the `Arc`s are shared by a fleet.
#[derive(Debug, Clone)]
pub struct DeviceOptions {
    /// Serial or udid.
    pub serial: String,
    /// Its number in the fleet, from 0.
    pub index: usize,
    /// How many devices of its platform the fleet has.
    pub count: usize,
    /// Its body.
    pub shape: &'static Shape,
    /// The apps there are.
    pub catalog: Arc<Catalog>,
    /// How long things take.
    pub latency: Arc<Latency>,
    /// What goes wrong.
    pub faults: Arc<Faults>,
    /// What the dice of the fleet start from.
    pub seed: u64,
    /// Who paints its screen.
    pub painter: Arc<Painter>,
    /// Where what reaches it is written down.
    pub arrivals: Option<Arc<Arrivals>>,
}

/// Whether a device answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// It does.
    Up,
    /// It does not before this time of the device.
    Down(Duration),
}

/// Who is told what happens to apps.
struct AppEventListener(Box<dyn Fn(AppEvent) + Send + Sync>);

impl std::fmt::Debug for AppEventListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Witness")
    }
}

/// One virtual device.
#[derive(Debug)]
pub struct Device {
    serial: Mutex<String>,
    index: usize,
    shape: &'static Shape,
    latency: Arc<Latency>,
    painter: Arc<Painter>,
    born: Instant,
    world: Mutex<World>,
    changed: Notify,
    app_event_listener: OnceLock<AppEventListener>,
    faults: Mutex<FaultState>,
    dice: Mutex<Dice>,
    skew: Mutex<i64>,
    battery: Mutex<u8>,
    unhandled: Mutex<BTreeMap<String, u64>>,
    history: Mutex<VecDeque<Snapshot>>,
    power: watch::Sender<Power>,
    boot_id: Mutex<String>,
    /// How long each start takes, of a device that never gets further.
    boot_loop: Mutex<Option<Duration>>,
    /// Counts how often all connections were cut.
    cuts: watch::Sender<u64>,
    arrivals: Option<Arc<Arrivals>>,
}

/// What the device number `index` of a fleet is called among those of its platform: `virtual-1`
/// and up.
pub fn name(index: usize) -> String {
    format!("virtual-{}", index + 1)
}

/// Not from the dice: fleets that were given the same seed are different devices.
fn random_uuid() -> String {
    let [high, low] = [(); 2].map(|()| RandomState::new().hash_one(()));
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    )
}

fn full_name(platform: Platform, index: usize) -> String {
    match platform {
        Platform::Android => format!("android/{}", name(index)),
        Platform::Ios => format!("ios/{}", name(index)),
    }
}

impl Device {
    /// A device that was switched on now.
    pub fn new(options: DeviceOptions) -> Self {
        let seed = Dice::new(options.seed ^ (options.index as u64).rotate_left(32)).roll();
        let world = World::new(WorldOptions {
            shape: options.shape,
            catalog: options.catalog,
            latency: options.latency.clone(),
            seed,
        });
        let name = full_name(options.shape.platform, options.index);
        let faults = FaultState::new(
            &options.faults,
            [name, options.serial.clone()],
            (options.index, options.count),
            options.seed,
        );
        Self {
            serial: Mutex::new(options.serial),
            index: options.index,
            shape: options.shape,
            latency: options.latency,
            painter: options.painter,
            born: Instant::now(),
            world: Mutex::new(world),
            changed: Notify::new(),
            app_event_listener: OnceLock::new(),
            faults: Mutex::new(faults),
            dice: Mutex::new(Dice::new(seed.rotate_left(17))),
            skew: Mutex::new(0),
            battery: Mutex::new(100),
            unhandled: Mutex::new(BTreeMap::new()),
            history: Mutex::new(VecDeque::new()),
            power: watch::Sender::new(Power::Up),
            boot_id: Mutex::new(random_uuid()),
            boot_loop: Mutex::new(None),
            cuts: watch::Sender::new(0),
            arrivals: options.arrivals,
        }
    }

    /// Its name in its fleet: `android/virtual-1`.
    pub fn name(&self) -> String {
        full_name(self.shape.platform, self.index)
    }

    /// Serial or udid.
    pub fn serial(&self) -> String {
        self.serial.lock().clone()
    }

    /// Its number in the fleet, from 0.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Its number in the fleet, from 1.
    pub fn ordinal(&self) -> u32 {
        let number = u32::try_from(self.index).unwrap_or(u32::MAX);
        number.saturating_add(1)
    }

    /// Its body.
    pub const fn shape(&self) -> &'static Shape {
        self.shape
    }

    /// The screen as apps are laid out for it.
    pub fn screen(&self) -> ScreenMetrics {
        self.world(|world| world.screen())
    }

    /// How long things take.
    pub fn latency(&self) -> &Latency {
        &self.latency
    }

    /// The time since the device was made.
    pub fn now(&self) -> Duration {
        self.born.elapsed()
    }

    /// What the device's own clock says.
    pub fn clock(&self) -> Duration {
        let real = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let skew = *self.skew.lock();
        let by = Duration::from_millis(skew.unsigned_abs());
        if skew < 0 {
            real.saturating_sub(by)
        } else {
            real + by
        }
    }

    /// Charge of the battery in percent.
    pub fn battery(&self) -> u8 {
        *self.battery.lock()
    }

    /// Sets the charge of the battery, in percent.
    pub fn set_battery(&self, percent: u8) {
        *self.battery.lock() = percent.min(100);
    }

    /// Looks at the world or changes it; who waits for a change is woken. `act` must not block.
    pub fn world<R>(&self, act: impl FnOnce(&mut World) -> R) -> R {
        // Only this much is compiled for every `act`, and there are more than a hundred.
        let (mut world, before) = self.enter_world();
        let result = act(&mut world);
        self.leave_world(world, before);
        result
    }

    fn enter_world(&self) -> (MutexGuard<'_, World>, u64) {
        let mut world = self.world.lock();
        let before = world.revision();
        world.advance(self.now());
        (world, before)
    }

    fn leave_world(&self, mut world: MutexGuard<'_, World>, before: u64) {
        let changed = world.revision() != before;
        let app_events = world.take_app_events();
        drop(world);
        if let Some(AppEventListener(tell)) = self.app_event_listener.get() {
            app_events.into_iter().for_each(tell);
        }
        if changed {
            self.changed.notify_waiters();
        }
    }

    /// Has `tell` told what happens to apps; only the first one is.
    pub fn on_app_event(&self, tell: impl Fn(AppEvent) + Send + Sync + 'static) {
        // A second one would be a second system on the same device.
        let _ = self
            .app_event_listener
            .set(AppEventListener(Box::new(tell)));
    }

    /// What can be seen now.
    pub fn snapshot(&self) -> Snapshot {
        self.world(World::snapshot)
    }

    /// Waits until `look` finds something, at most until the device's time is `deadline`.
    pub async fn wait_for<R>(
        &self,
        deadline: Duration,
        mut look: impl FnMut(&mut World) -> Option<R>,
    ) -> Option<R> {
        loop {
            // Registered before looking, or a change in between would be missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let (found, now, due) =
                self.world(|world| (look(world), world.now(), world.next_due()));
            if found.is_some() || now >= deadline {
                return found;
            }
            let wake = due.map_or(deadline, |due| due.min(deadline));
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(self.born + wake) => {}
            }
        }
    }

    /// Lets the time pass that something takes.
    pub async fn takes(&self, lasting: VariableDuration) {
        let time = lasting.pick(&mut self.dice.lock());
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
    }

    /// Lets this time pass.
    pub async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// Lets the time pass that these faults add.
    pub async fn delay(&self, faults: &[Fault]) {
        for fault in faults {
            if let Fault::Delay(time) = fault {
                self.sleep(time.0).await;
            }
        }
    }

    /// A number of the device's dice, from 0 to `limit`.
    pub fn roll(&self, limit: u64) -> u64 {
        self.dice.lock().up_to(limit)
    }

    /// The screen as a PNG, as large as the screen times `scale`.
    ///
    /// # Errors
    /// When the runtime goes down meanwhile.
    pub async fn screenshot(&self, scale: f64) -> Result<Bytes, PaintError> {
        let (snapshot, width, height) = self.picture(scale);
        self.painter.png(snapshot, width, height).await
    }

    /// The screen as pixels.
    ///
    /// # Errors
    /// When the runtime goes down meanwhile.
    pub async fn pixels(&self) -> Result<crate::paint::Canvas, PaintError> {
        let (snapshot, width, height) = self.picture(1.0);
        self.painter.canvas(snapshot, width, height).await
    }

    fn picture(&self, scale: f64) -> (Snapshot, u32, u32) {
        let snapshot = self.snapshot();
        let screen = self.screen();
        let (width, height) = (snapshot.rotation).turn(screen.width_px, screen.height_px);
        let scale = scale.clamp(0.01, 1.0);
        let scaled = |length: u32| ((f64::from(length) * scale).round() as u32).max(1);
        (snapshot, scaled(width), scaled(height))
    }

    /// Whether nothing can go wrong.
    pub fn has_no_faults(&self) -> bool {
        self.faults.lock().is_empty()
    }

    /// Whether nobody looks at events, so that they need not be described.
    pub fn ignores_events(&self) -> bool {
        self.arrivals.is_none() && self.has_no_faults()
    }

    /// What goes wrong at this event. What concerns the device as a whole has happened when this
    /// returns; the rest is for the caller.
    pub fn fire_faults(&self, event: Event<'_>) -> Vec<Fault> {
        if let Some(arrivals) = &self.arrivals {
            arrivals.note(&self.name(), event);
        }
        let mut faults = self.faults.lock();
        if faults.is_empty() {
            return Vec::new();
        }
        let fired = faults.fire(event, self.now());
        drop(faults);
        (fired.into_iter())
            .filter(|fault| !self.apply_device_fault(fault))
            .collect()
    }

    /// Does what a fault of the device or its screen does; false when it is another's.
    fn apply_device_fault(&self, fault: &Fault) -> bool {
        match fault {
            Fault::ClockSkew(ms) => *self.skew.lock() = *ms,
            Fault::Battery(percent) => self.set_battery(*percent),
            Fault::Serial(serial) => {
                self.serial.lock().clone_from(serial);
                self.cut();
            }
            // The caller must know that it goes no further.
            Fault::Reboot(time) => {
                self.reboot(time.0);
                return false;
            }
            Fault::BootLoop(time) => {
                *self.boot_loop.lock() = Some(time.0);
                self.reboot(time.0);
                return false;
            }
            Fault::Drop => {
                self.cut();
                return false;
            }
            Fault::Dialog {
                title,
                text,
                buttons,
            } => {
                let dialog = OpenDialog::Sudden {
                    title: title.clone(),
                    text: text.clone(),
                    buttons: buttons.clone(),
                };
                self.world(|world| world.show_system_dialog(dialog));
            }
            Fault::Keyboard => self.world(World::force_keyboard),
            Fault::Crash => self.world(|world| world.crash(&world.front())),
            Fault::Anr => self.world(|world| {
                let front = world.front();
                world.show_system_dialog(OpenDialog::Hangs(front));
            }),
            _ => return false,
        }
        true
    }

    /// One more rule for this device.
    pub fn inject(&self, rule: FaultRule) {
        self.faults.lock().inject(Arc::new(rule));
    }

    /// No fault rule applies any more.
    pub fn clear_faults(&self) {
        self.faults.lock().clear();
    }

    /// Keeps `snapshot` as the newest and returns the one of `by` reads before, or the oldest.
    pub fn told_late(&self, snapshot: Snapshot, by: usize) -> Snapshot {
        let mut history = self.history.lock();
        history.push_front(snapshot.clone());
        let late = history.get(by).or_else(|| history.back()).cloned();
        history.truncate(MAX_STALE);
        late.unwrap_or(snapshot)
    }

    /// Cuts all connections to the device.
    pub fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Tells of every cut.
    pub fn cuts(&self) -> watch::Receiver<u64> {
        self.cuts.subscribe()
    }

    /// Switches the device off and on: all connections are cut, nothing answers for `time`.
    pub fn reboot(&self, time: Duration) {
        self.world(World::reboot);
        *self.boot_id.lock() = random_uuid();
        let until = self.now() + time;
        self.power.send_replace(Power::Down(until));
        self.cut();
    }

    /// A UUID that no other start of any device has.
    pub fn boot_id(&self) -> String {
        self.boot_id.lock().clone()
    }

    /// How long a start takes, by the dice.
    pub fn boot_time(&self) -> Duration {
        self.latency.boot.pick(&mut self.dice.lock())
    }

    /// Whether the device answers now.
    pub fn power(&self) -> Power {
        let power = *self.power.borrow();
        match (power, *self.boot_loop.lock()) {
            (Power::Down(until), _) if self.now() < until => power,
            (Power::Down(_), Some(time)) => {
                self.reboot(time);
                Power::Down(self.now() + time)
            }
            (Power::Down(_) | Power::Up, _) => Power::Up,
        }
    }

    /// Notes a request of a client that the device has no answer for.
    pub fn note_unhandled(&self, request: &str) {
        let mut all = self.unhandled.lock();
        if let Some(count) = all.get_mut(request) {
            *count += 1;
        } else if all.len() < MAX_UNHANDLED {
            let cut: String = request.chars().take(400).collect();
            all.insert(cut, 1);
        }
    }

    /// The requests the device had no answer for, and how often each came.
    pub fn unhandled(&self) -> Vec<(String, u64)> {
        let all = self.unhandled.lock();
        all.iter()
            .map(|(request, count)| (request.clone(), *count))
            .collect()
    }
}
