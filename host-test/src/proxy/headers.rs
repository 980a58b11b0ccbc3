use std::borrow::Cow;
use std::ops::ControlFlow;

use proxy_wasm_host::{HeaderMap, NotAllowed, PairVisitor, VecHeaderMap};

use super::hostcalls::heard;

/// Headers or trailers, as a module reads and writes them.
#[derive(Debug, Default)]
pub(super) struct Headers(VecHeaderMap);

impl Headers {
    /// The first value, for the proxy itself.
    pub(super) fn value(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.0.get(name.as_bytes())
    }

    /// Sets a header, as the proxy itself.
    pub(super) fn set_value(&mut self, name: &str, value: &str) {
        // A map in memory allows every write.
        let _ = self.0.set(name.as_bytes(), value.as_bytes());
    }
}

impl FromIterator<(Vec<u8>, Vec<u8>)> for Headers {
    fn from_iter<I: IntoIterator<Item = (Vec<u8>, Vec<u8>)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl HeaderMap for Headers {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let value = self.0.get(key);
        heard("get_header_map_value", key, value.as_ref().map(|value| value.len()));
        value
    }

    fn for_each_pair(&self, f: &mut PairVisitor<'_>) -> ControlFlow<()> {
        self.0.for_each_pair(f)
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), NotAllowed> {
        heard("replace_header_map_value", key, None);
        self.0.set(key, value)
    }

    fn add(&mut self, key: &[u8], value: &[u8]) -> Result<(), NotAllowed> {
        heard("add_header_map_value", key, None);
        self.0.add(key, value)
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), NotAllowed> {
        heard("remove_header_map_value", key, None);
        self.0.remove(key)
    }

    fn replace_all(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<(), NotAllowed> {
        heard("set_header_map_pairs", b"", None);
        self.0.replace_all(pairs)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
