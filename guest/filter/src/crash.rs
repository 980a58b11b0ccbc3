//! For tests of what a crash leaves behind. Not in the filter that is shipped: the feature `crash-on-demand` is off by default.

use crate::hostcalls::{self, Headers};

/// Crashes this VM if the request says so.
pub(crate) fn on_demand() {
    assert!(hostcalls::header(Headers::Request, "x-breakerbox-crash").is_none(), "told to crash");
}
