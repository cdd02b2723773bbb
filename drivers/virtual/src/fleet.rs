//! A fleet of virtual devices in this process.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::adb_server;
use crate::android::blobs::Blobs;
use crate::android::{Android, AndroidOptions, AuthPolicy, Build, Generation};
use crate::app::{App, AppError};
use crate::arrivals::Arrivals;
use crate::device::{Device, DeviceOptions};
use crate::faults::Faults;
use crate::ios::{Iphone, udid};
use crate::latency::Latency;
use crate::listener::ListenerScope;
use crate::paint::{PaintLimits, Painter};
use crate::shape::{self, Platform};
use crate::usbmux::Usbmuxd;
use crate::world::Catalog;

/// Where the Android devices listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listen {
    /// Each on a free port of 127.0.0.1.
    #[default]
    Tcp,
    /// All on one port, each on a loopback address of its own. Linux only.
    PerDeviceIp,
}

/// What a fleet consists of.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// The apps the devices have beside the system's.
    pub apps: Vec<App>,
    /// How many Android phones.
    pub android: usize,
    /// How many iPhones.
    pub ios: usize,
    /// How long things take.
    pub latency: Latency,
    /// What goes wrong.
    pub faults: Faults,
    /// What all dice start from.
    pub seed: u64,
    /// Where the Android phones listen.
    pub listen: Listen,
    /// Whom they let in.
    pub auth: AuthPolicy,
    /// How new their adbd is.
    pub generation: Generation,
    /// How their system was built.
    pub build: Build,
    /// How much is spent on pictures.
    pub paint: PaintLimits,
    /// Bytes of files kept in memory; more goes to a temporary file.
    pub files_in_memory: usize,
    /// Where what reaches the devices is written down.
    pub arrivals: Option<Arc<Arrivals>>,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            apps: Vec::new(),
            android: 0,
            ios: 0,
            latency: Latency::phone(),
            faults: Faults::default(),
            seed: 0,
            listen: Listen::default(),
            auth: AuthPolicy::default(),
            generation: Generation::default(),
            build: Build::default(),
            paint: PaintLimits::default(),
            files_in_memory: 64 * 1024 * 1024,
            arrivals: None,
        }
    }
}

/// Why a fleet could not be started.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The system's own apps cannot be read.
    #[error(transparent)]
    App(#[from] AppError),
    /// A device cannot listen.
    #[error("listening for device {index}: {source}")]
    Listen {
        /// Its number.
        index: usize,
        /// Why.
        source: std::io::Error,
    },
    /// The iPhones or their usbmuxd cannot listen.
    #[error("listening for the iPhones: {0}")]
    Iphones(#[source] std::io::Error),
}

/// An Android phone of a fleet.
#[derive(Debug, Clone)]
pub struct AndroidHandle {
    android: Arc<Android>,
    address: SocketAddr,
}

impl AndroidHandle {
    /// Where it listens; its `Display` is what `adb connect` takes and how adb names the device.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The device behind the wire: its world, its faults, its clock.
    pub fn device(&self) -> &Arc<Device> {
        self.android.device()
    }

    /// The phone itself.
    pub const fn android(&self) -> &Arc<Android> {
        &self.android
    }
}

/// A fleet that runs. Dropping it ends it without waiting; [`Fleet::shutdown`] waits.
#[derive(Debug)]
pub struct Fleet {
    android: Vec<AndroidHandle>,
    ios: Vec<Arc<Iphone>>,
    usbmuxd_address: Option<SocketAddr>,
    blobs: Arc<Blobs>,
    scope: ListenerScope,
}

impl Fleet {
    /// Starts all devices; they listen when this returns.
    ///
    /// # Errors
    /// When one cannot listen.
    pub async fn start(options: FleetOptions) -> Result<Self, FleetError> {
        let catalog = Arc::new(Catalog::new(options.apps.clone())?);
        let painter = Arc::new(Painter::new(options.paint));
        let (latency, faults) = (Arc::new(options.latency), Arc::new(options.faults));
        let blobs = Blobs::new(options.files_in_memory);
        let scope = ListenerScope::default();
        // Ends what was started when something below fails.
        let guard = scope.shutdown.clone().drop_guard();
        let device = |serial, index: usize, count, platform| {
            let models = shape::models(platform);
            let shape = models.clone().nth(index % models.count());
            Arc::new(Device::new(DeviceOptions {
                serial,
                index,
                count,
                shape: shape.expect("a remainder is less than what divides"),
                catalog: catalog.clone(),
                latency: latency.clone(),
                faults: faults.clone(),
                seed: options.seed,
                painter: painter.clone(),
                arrivals: options.arrivals.clone(),
            }))
        };
        let androids: Vec<Arc<Android>> = (0..options.android)
            .map(|index| {
                let serial = format!("VIRTUAL{index:05}");
                let device = device(serial, index, options.android, Platform::Android);
                let options = AndroidOptions {
                    auth: options.auth,
                    generation: options.generation,
                    build: options.build,
                    blobs: blobs.clone(),
                    scope: scope.clone(),
                };
                Android::new(device, options)
            })
            .collect();
        let addresses = listen(&scope, &androids, options.listen).await?;
        let usbmuxd = Arc::new(Usbmuxd::default());
        let usbmuxd_address = match options.ios {
            0 => None,
            _ => {
                let listening = usbmuxd.clone().serve(&scope);
                Some(listening.await.map_err(FleetError::Iphones)?)
            }
        };
        let iphones = (0..options.ios).map(|index| {
            let device = device(udid(index).0, index, options.ios, Platform::Ios);
            Iphone::start(device, usbmuxd.clone(), scope.clone())
        });
        let ios = iphones.collect::<Result<_, _>>();
        let ios = ios.map_err(FleetError::Iphones)?;
        guard.disarm();
        let android = (androids.into_iter().zip(addresses))
            .map(|(android, address)| AndroidHandle { android, address })
            .collect();
        Ok(Self {
            android,
            ios,
            usbmuxd_address,
            blobs,
            scope,
        })
    }

    /// The Android phones, in order.
    pub fn android(&self) -> &[AndroidHandle] {
        &self.android
    }

    /// The iPhones, in order.
    pub fn ios(&self) -> &[Arc<Iphone>] {
        &self.ios
    }

    /// Where the usbmuxd of the iPhones listens, in the form `USBMUXD_SOCKET_ADDRESS` takes;
    /// `None` without iPhones.
    pub const fn usbmuxd_address(&self) -> Option<SocketAddr> {
        self.usbmuxd_address
    }

    /// Starts an adb server that has no devices, for clients that ask one before they come here
    /// directly. It ends with the fleet.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn start_adb_server(&self) -> std::io::Result<SocketAddr> {
        adb_server::start(&self.scope).await
    }

    /// Bytes of files that are kept in memory for all devices together.
    pub fn files_in_memory(&self) -> usize {
        self.blobs.in_memory()
    }

    /// Ends all devices and waits until nothing of them runs any more.
    pub async fn shutdown(&self) {
        self.scope.shutdown.cancel();
        self.scope.tasks.close();
        self.scope.tasks.wait().await;
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.scope.shutdown.cancel();
    }
}

async fn listen(
    listening: &ListenerScope,
    androids: &[Arc<Android>],
    how: Listen,
) -> Result<Vec<SocketAddr>, FleetError> {
    let failed = |index| move |source| FleetError::Listen { index, source };
    if how == Listen::PerDeviceIp {
        return listening.per_address(androids).await.map_err(failed(0));
    }
    let mut addresses = Vec::with_capacity(androids.len());
    for (index, android) in androids.iter().enumerate() {
        let address = listening.tcp(android.clone()).await;
        addresses.push(address.map_err(failed(index))?);
    }
    Ok(addresses)
}
