use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use proxy_wasm_host::abi::v0_2_1::types::LogLevel;
use proxy_wasm_host::abi::v0_2_1::{LogContext, LogSink};

/// What modules have logged, in order. Displayed it is one line a message.
#[derive(Debug, Default)]
pub struct Log(Mutex<Vec<Line>>);

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How loud it is: `trace`, `debug`, `info`, `warn`, `error`, `critical`.
    pub level: &'static str,
    /// The text.
    pub message: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.level, self.message)
    }
}

impl Log {
    /// Whether a message contains this.
    pub fn contains(&self, part: &str) -> bool {
        self.held().iter().any(|line| line.message.contains(part))
    }

    /// The messages so far.
    pub fn lines(&self) -> Vec<Line> {
        self.held().clone()
    }

    fn held(&self) -> MutexGuard<'_, Vec<Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.held().iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl LogSink for Log {
    fn log(&self, _: LogContext<'_>, level: LogLevel, message: &[u8]) {
        let level = match level {
            LogLevel::Trace => "trace",
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
            LogLevel::Critical => "critical",
        };
        self.held().push(Line { level, message: String::from_utf8_lossy(message).into_owned() });
    }
}
