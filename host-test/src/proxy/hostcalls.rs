use std::cell::RefCell;
use std::fmt;

/// A function of the proxy that a module called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hostcall {
    /// The function's name in the ABI, without `proxy_`.
    pub function: &'static str,
    /// What it was about: a header's or a metric's name, a key, a path with dots.
    pub subject: String,
    /// How many bytes the module received, for which the proxy had to ask it for room. This is what makes a hostcall
    /// dear; nothing that is not there, and no number, needs any.
    pub received: Option<usize>,
}

impl fmt::Display for Hostcall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        if !self.subject.is_empty() {
            write!(f, " {}", self.subject)?;
        }
        self.received.map_or(Ok(()), |bytes| write!(f, " -> {bytes} bytes"))
    }
}

thread_local! {
    /// Workers stay in their thread, and so do the hostcalls of their modules.
    static HEARD: RefCell<Option<Vec<Hostcall>>> = const { RefCell::new(None) };
}

/// Does `work`, and lists the hostcalls that modules made meanwhile, those for logging left out.
pub fn hostcalls<T>(work: impl FnOnce() -> T) -> (T, Vec<Hostcall>) {
    let outer = HEARD.replace(Some(Vec::new()));
    let result = work();
    (result, HEARD.replace(outer).unwrap_or_default())
}

/// A module called this function, if anybody wants to know.
pub(super) fn heard(function: &'static str, subject: &[u8], received: Option<usize>) {
    HEARD.with_borrow_mut(|heard| {
        if let Some(heard) = heard {
            let subject = String::from_utf8_lossy(subject).replace('\0', ".");
            heard.push(Hostcall { function, subject, received });
        }
    });
}
