//! What a person sees of the role `admin`. `build.rs` puts it together from the files in `page/`.

/// One HTML page with its style and script, which asks for `breakers` and posts controls.
pub(crate) const HTML: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// Lets this page run its own script, talk to its own origin, and be in nobody's frame.
pub(crate) const POLICY: &str = include_str!(concat!(env!("OUT_DIR"), "/page.policy"));
