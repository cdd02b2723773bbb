//! What is promised of every phone.

use crate::lab::Way;

packtrain_testing::phone_promises! { address: Way::Address, cable: Way::Cable }
