use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use breakerbox_config::{BACKOFF_KEYS, FILTER_KEYS, KEYS, Key};

pub(super) fn execute() -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    print(&mut out, "A breaker's settings", KEYS)?;
    print(&mut out, "\nIn open_backoff", BACKOFF_KEYS)?;
    print(&mut out, "\nThe Envoy filter's configuration", FILTER_KEYS)?;
    Ok(ExitCode::SUCCESS)
}

/// As a Markdown table, which reads well on a terminal, too.
fn print(out: &mut impl Write, title: &str, keys: &[Key]) -> io::Result<()> {
    let rows: Vec<[String; 4]> = keys
        .iter()
        .map(|key| {
            [
                format!("`{}`", key.name),
                format!("`{}`", key.default),
                key.limits.to_owned(),
                key.meaning.to_owned(),
            ]
        })
        .collect();
    let header = ["key", "default", "limits", "meaning"].map(str::to_owned);
    let width = |column: usize| {
        rows.iter().chain([&header]).map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: [usize; 4] = std::array::from_fn(width);
    let rule = widths.map(|width| "-".repeat(width));
    writeln!(out, "{title}\n")?;
    for row in [&header, &rule].into_iter().chain(&rows) {
        for (cell, width) in row.iter().zip(widths) {
            write!(out, "| {cell:width$} ")?;
        }
        writeln!(out, "|")?;
    }
    Ok(())
}
