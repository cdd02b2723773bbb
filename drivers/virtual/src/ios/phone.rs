//! One virtual iPhone: what answers on its ports, its cable, and what brings it back after a
//! fault.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::port::ClosablePort;
use crate::device::{Device, Power};
use crate::faults::{Event, Fault};
use crate::listener::ListenerScope;
use crate::lockdown::{Lockdown, Refusal};
use crate::usbmux::faulty_stream::{ConnectionFaults, FaultyStream};
use crate::usbmux::{Attachable, DevicePort, Service, Udid, Usbmuxd};
use crate::wda::{self, Outage, Running, Wda};

/// How many outages may wait to be undone.
const MAX_OUTAGES: usize = 128;

/// One virtual iPhone.
pub struct Iphone {
    udid: Udid,
    device: Arc<Device>,
    lockdown: Arc<Lockdown>,
    wda: Arc<Wda>,
    wda_address: SocketAddr,
    /// Whether that address takes connections.
    listening: watch::Sender<Running>,
    usbmuxd: Arc<Usbmuxd>,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Iphone {
    /// Plugs in a phone whose serial is its udid. The host of that usbmuxd is one it trusts.
    /// `scope` ends all it does and waits for it.
    ///
    /// # Errors
    /// When no port is free on this machine.
    pub(crate) fn start(
        device: Arc<Device>,
        usbmuxd: Arc<Usbmuxd>,
        ListenerScope { shutdown, tasks }: ListenerScope,
    ) -> io::Result<Arc<Self>> {
        let udid = Udid(device.serial());
        let (outages, incoming) = mpsc::channel(MAX_OUTAGES);
        let wda = Wda::new(device.clone(), tasks.clone(), outages);
        let (port, wda_address) = ClosablePort::open_anywhere()?;
        let phone = Arc::new(Self {
            lockdown: Lockdown::new(udid.clone(), device.clone()),
            udid,
            wda,
            wda_address,
            listening: watch::Sender::new(Running::Up),
            usbmuxd,
            shutdown,
            tasks,
            device,
        });
        let record = phone.lockdown.pair_with(phone.usbmuxd.system_buid());
        (phone.usbmuxd).save_pair_record(phone.udid.as_str(), record);
        phone.usbmuxd.attach(phone.clone());
        phone.spawn(phone.clone().take_connections(port));
        phone.spawn(phone.clone().undo(incoming));
        phone.spawn(phone.clone().follow_power());
        phone.tasks.spawn(phone.clone().leave_at_shutdown());
        Ok(phone)
    }

    /// The name clients know it by.
    pub const fn udid(&self) -> &Udid {
        &self.udid
    }

    /// Where its WebDriverAgent answers without usbmuxd.
    pub const fn wda_address(&self) -> SocketAddr {
        self.wda_address
    }

    /// Ends WebDriverAgent as a crash does; when this returns, its address refuses connections.
    pub async fn stop_wda(&self) {
        self.wda.stop();
        self.address_is(Running::Down).await;
    }

    /// Starts WebDriverAgent again; when this returns, its address takes connections.
    pub async fn start_wda(&self) {
        self.wda.start();
        self.address_is(Running::Up).await;
    }

    async fn address_is(&self, wanted: Running) {
        let mut listening = self.listening.subscribe();
        // The sender lives as long as the phone, so there is always an end to wait for.
        let _ = listening.wait_for(|listening| *listening == wanted).await;
    }

    /// Its world and its faults.
    pub const fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Pulls the cable: connections through usbmuxd end. WebDriverAgent's own address still
    /// answers.
    pub fn unplug(&self) {
        self.usbmuxd.detach(&self.udid);
    }

    /// Plugs it in again.
    pub fn plug_in(self: &Arc<Self>) {
        self.usbmuxd.attach(self.clone());
    }

    /// Runs until it ends or the fleet is shut down.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let shutdown = self.shutdown.clone();
        self.tasks.spawn(async move {
            shutdown.run_until_cancelled_owned(work).await;
        });
    }

    /// Lets go of all that runs in tasks of its own and of the usbmuxd, which knows this phone.
    async fn leave_at_shutdown(self: Arc<Self>) {
        self.shutdown.cancelled().await;
        self.wda.stop();
        self.unplug();
    }

    /// Serves WebDriverAgent's own address, which refuses connections while it is down.
    async fn take_connections(self: Arc<Self>, mut port: ClosablePort) {
        loop {
            let moved = match &port {
                ClosablePort::Open(listener) => {
                    let accepted = tokio::select! {
                        accepted = listener.accept() => Some(accepted),
                        () = self.wda.becomes(Running::Down) => None,
                    };
                    match accepted {
                        Some(accepted) => {
                            self.take_connection(accepted).await;
                            continue;
                        }
                        None => port.close(self.wda_address).await,
                    }
                }
                ClosablePort::Closed { .. } => {
                    self.wda.becomes(Running::Up).await;
                    port.open(self.wda_address)
                }
            };
            if let Err(error) = moved {
                tracing::warn!(%error, udid = %self.udid, "WebDriverAgent's port is gone");
                return;
            }
            self.listening.send_replace(match port {
                ClosablePort::Open(_) => Running::Up,
                ClosablePort::Closed { .. } => Running::Down,
            });
        }
    }

    async fn take_connection(self: &Arc<Self>, accepted: io::Result<(TcpStream, SocketAddr)>) {
        match accepted {
            Ok((stream, _)) => {
                // Answers are written at once; Nagle would only hold them back.
                let _ = stream.set_nodelay(true);
                self.spawn(wda::serve(self.wda.clone(), Box::new(stream)));
            }
            Err(error) => {
                // Out of file descriptors, usually: let others close some.
                tracing::warn!(%error, udid = %self.udid, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// Brings back what faults took away for a while.
    async fn undo(self: Arc<Self>, mut outages: mpsc::Receiver<Outage>) {
        while let Some(outage) = outages.recv().await {
            let phone = self.clone();
            self.spawn(async move {
                match outage {
                    Outage::WdaDown(time) => {
                        phone.device.sleep(time.0).await;
                        phone.wda.start();
                    }
                    Outage::Unplugged(time) => {
                        phone.unplug();
                        phone.device.sleep(time.0).await;
                        phone.plug_in();
                    }
                }
            });
        }
    }

    /// A phone that restarts is off the cable and without WebDriverAgent meanwhile.
    async fn follow_power(self: Arc<Self>) {
        let mut cuts = self.device.cuts();
        while cuts.changed().await.is_ok() {
            let Power::Down(until) = self.device.power() else {
                continue;
            };
            self.unplug();
            self.wda.stop();
            let rest = until.saturating_sub(self.device.now());
            self.device.sleep(rest).await;
            self.wda.start();
            self.plug_in();
        }
    }

    async fn open(&self, port: DevicePort) -> Option<Service> {
        if let Power::Down(_) = self.device.power() {
            return None;
        }
        if port == wda::PORT {
            // WebDriverAgent asks for its own faults.
            if self.wda.running() == Running::Down {
                return None;
            }
            let wda = self.wda.clone();
            return Some(Box::new(|stream| Box::pin(wda::serve(wda, stream))));
        }
        let mut cuts = self.device.cuts();
        let mut refusal = None;
        let connection_faults = Arc::new(ConnectionFaults::default());
        for fault in self.device.fire_faults(Event::Connect("lockdown")) {
            match fault {
                Fault::Refuse | Fault::Reset => return None,
                Fault::Delay(time) => self.device.sleep(time.0).await,
                Fault::PasswordProtected => refusal = Some(Refusal::PASSWORD_PROTECTED),
                Fault::InvalidHostId => refusal = Some(Refusal::INVALID_HOST_ID),
                other => connection_faults.apply(&other),
            }
        }
        let service = self.lockdown.open(port, refusal)?;
        Some(Box::new(move |stream| {
            Box::pin(async move {
                let stream = FaultyStream::new(stream, connection_faults);
                tokio::select! {
                    () = service(Box::new(stream)) => {}
                    _ = cuts.changed() => {}
                }
            })
        }))
    }
}

impl std::fmt::Debug for Iphone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Iphone")
            .field("udid", &self.udid)
            .field("wda_address", &self.wda_address)
            .finish_non_exhaustive()
    }
}

impl Attachable for Iphone {
    fn udid(&self) -> &Udid {
        &self.udid
    }

    fn open(&self, port: DevicePort) -> BoxFuture<'_, Option<Service>> {
        Box::pin(self.open(port))
    }
}
