use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use super::traffic::Tally;

/// What one second looked like for one route.
pub(super) struct Cell<'a> {
    pub(super) breaker: &'a str,
    pub(super) calls: Tally,
}

/// Where the timeline is written: coloured, and with a row that grows, on a terminal; else plain lines.
pub(super) struct Screen {
    is_terminal: bool,
    coloured: bool,
    /// An unfinished row stands on the last line.
    unfinished: bool,
}

impl Screen {
    pub(super) fn new() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let coloured = is_terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { is_terminal, coloured, unfinished: false }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.write(&format!("{text}\n"));
        self.unfinished = false;
    }

    /// Something that we do to an upstream.
    pub(super) fn act(&mut self, time: Duration, text: &str) {
        let text = self.paint("1", &format!("==> {text}"));
        self.line(&format!("{}  {text}", seconds(time)));
    }

    /// Something that a breaker says.
    pub(super) fn event(&mut self, time: Duration, text: &str) {
        let text = self.paint("36", &format!("  * {text}"));
        self.line(&format!("{}  {text}", seconds(time)));
    }

    pub(super) fn table_head(&mut self, routes: [&str; 2]) {
        let [first, second] = routes.map(|route| format!("{:-<35}", format!("--- {route} ")));
        let columns = "breaker   calls/s  failed  rejected";
        self.line(&format!("\n       {first}  {second}"));
        self.line(&format!("  time {columns}  {columns}"));
    }

    pub(super) fn row(&mut self, time: Duration, cells: &[Cell; 2]) {
        let row = self.format_row(time, cells);
        self.line(&row);
    }

    /// The row of a second that is not over.
    pub(super) fn unfinished_row(&mut self, time: Duration, cells: &[Cell; 2]) {
        if self.is_terminal {
            let row = self.format_row(time, cells);
            self.write(&row);
            self.unfinished = true;
        }
    }

    fn format_row(&self, time: Duration, cells: &[Cell; 2]) -> String {
        let [first, second] = cells.each_ref().map(|Cell { breaker, calls }| {
            let colour = match *breaker {
                "closed" => "32",
                "open" => "31",
                _ => "33",
            };
            let breaker = self.paint(colour, &format!("{breaker:<9}"));
            format!("{breaker} {:>7}  {:>6}  {:>8}", calls.sent, calls.failed, calls.rejected)
        });
        format!("{} {first}  {second}", seconds(time))
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn write(&mut self, text: &str) {
        let start = if self.unfinished { "\r\x1b[K" } else { "" };
        let mut out = io::stdout();
        // A reader that has left, as `head` does, is no reason to stop short of the verdict.
        let _ = write!(out, "{start}{text}").and_then(|()| out.flush());
    }
}

fn seconds(time: Duration) -> String {
    format!("{:>5.1}s", time.as_secs_f64())
}
