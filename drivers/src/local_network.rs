//! What macOS means besides when it says that there is no route to a host: from version 15 on it keeps
//! programs from the local network so, unless the app that started them may use it (Apple's TN3179).
//! Knows no wire.

/// The system's words, which are all that an adb server and the client of NATS hand on.
const NO_ROUTE: &str = "No route to host";

/// What a person can do about a connection that failed for such a reason; `system` is as
/// `std::env::consts::OS` has it.
pub fn hint(system: &str, reason: &str) -> Option<&'static str> {
    let may_be_kept_out = system == "macos" && reason.contains(NO_ROUTE);
    may_be_kept_out.then_some(
        "is it switched on and on this network? macOS reports the same when the app that \
         started Packtrain (terminal, editor, agent) may not use the local network: System Settings, \
         Privacy & Security, Local Network",
    )
}
