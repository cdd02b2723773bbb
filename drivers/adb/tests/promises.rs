//! What is promised of every phone.

use crate::lab::Way;

packtrain_testing::phone_promises! {
    server_by_agent: Way::SERVER_AGENT,
    server_by_shell: Way::SERVER_SHELL,
    direct_by_agent: Way::DIRECT_AGENT,
    direct_by_shell: Way::DIRECT_SHELL
}
