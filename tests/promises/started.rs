//! What was started for an iPhone ends with the program, however that ends.

use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::time::Duration;

use packtrain_testing::free_port;

use crate::lab;

/// A WebDriverAgent that never answers, and a helper of its own. Both hold a connection to the
/// test for as long as they live.
fn script(port: u16) -> String {
    format!("exec 3<>/dev/tcp/127.0.0.1/{port}; trap '' INT TERM HUP; sleep 3600 & wait; wait")
}

#[test]
fn what_was_started_for_an_iphone_ends_with_the_program_whatever_ends_it() {
    for signals in [&["-INT"][..], &["-INT", "-INT"], &["-TERM"], &["-KILL"]] {
        let lab = lab();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let started = script(listener.local_addr().unwrap().port());
        // Nobody listens there, so that the command is run.
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        lab.write(
            "packtrain.yaml",
            &format!("devices:\n  ios:\n    bench:\n      wda: http://{free}\n      start: [bash, -c, \"{started}\"]\n"),
        );
        lab.write("look.trail.yaml", "config: { id: look }\ntrail:\n  - step: Look\n    recording:\n      ios:\n        - takeSnapshot: { screenName: x }\n");
        let mut program = lab.start(&["run", "look.trail.yaml", "-d", "ios/bench"]);
        let (mut helpers, _) = listener.accept().unwrap();
        for signal in signals {
            let pid = program.id().to_string();
            Command::new("kill")
                .args([signal, pid.as_str()])
                .status()
                .unwrap();
        }
        program.wait().unwrap();
        helpers
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let ended = helpers.read(&mut [0; 1]);
        assert_eq!(ended.ok(), Some(0), "{signals:?}: it still runs");
    }
}
