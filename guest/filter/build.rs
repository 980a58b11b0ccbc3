//! Puts the page of the role `admin` together, and the content security policy that lets its own script and style run
//! and nothing else.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

const DIRECTORY: &str = "src/page";
/// One after the other, as if they were one file.
const SCRIPTS: [&str; 5] = ["words.js", "history.js", "card.js", "proxy.js", "page.js"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let style = read("page.css");
    let script = SCRIPTS.map(read).join("\n");
    let page = read("page.html").replace("{{style}}", &style).replace("{{script}}", &script);
    // `style-src` is about elements and attributes; what the script sets through properties of an element is its own.
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        source(&script),
        source(&style)
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    write(&out.join("page.html"), &page);
    write(&out.join("page.policy"), &policy);
}

fn read(name: &str) -> String {
    let path = Path::new(DIRECTORY).join(name);
    println!("cargo:rerun-if-changed={}", path.display());
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// An inline script or style as a policy names it.
fn source(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text)))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).flat_map(|group| {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        [18, 12, 6, 0].into_iter().enumerate().map(move |(index, shift)| {
            if index > group.len() { '=' } else { char::from(DIGITS[(bits >> shift & 63) as usize]) }
        })
    });
    groups.collect()
}
