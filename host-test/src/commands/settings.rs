use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use breakerbox_config::{Code, Key, Oddity, SECTIONS};

/// What holds for all keys.
const WRITING: &str = "## How settings are written

In JSON. Keys may be in `snake_case`, `kebab-case` or `camelCase`.

- Durations are numbers with units, the longest first: `h`, `m`, `s`, `ms`, `us`, `ns`, as in `250ms`, `1.5s`, `1m30s`.
- Where `off` may be given, `null` and `false` mean the same, since YAML makes `false` of an unquoted `off`.
- `true` and `false` may be in quotes; numbers may not.
- No text at all is the filter's default configuration, since that is what Envoy passes on where none is given. The
  component's `parse-settings` and scenario files need an object, `{}` at least.
";

const NAMES: [&str; 2] = ["name", "meaning"];

/// An id for each `per`.
const IDS: [(&str, &str); 8] = [
    ("route", "the route's `name`: `orders`"),
    ("cluster", "the cluster's `name`: `orders-v1`"),
    ("virtual_host", "the virtual host's `name`: `shop`"),
    ("host", "the authority in lower case, with its port if the client gives one: `shop.example:8080`"),
    ("upstream_host", "the address and port: `10.0.0.7:8080`"),
    ("header:x-tenant", "the header's value: `acme`"),
    ("path_prefix:2", "`/shop/carts`, of `/shop/carts/7?all` as well as of `/shop/carts`"),
    ("fixed:all", "`all`"),
];

pub(super) fn execute() -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    write!(out, "{WRITING}")?;
    for section in SECTIONS {
        writeln!(out, "\n## {}\n\nIn {}:\n", section.title, section.place)?;
        print(&mut out, section.keys)?;
    }
    writeln!(out, "\n## Ids (Envoy filter)\n\nWhat an entry of `breakers` is called, for instance.\n")?;
    print_pairs(&mut out, ["`per`", "id"], IDS)?;
    writeln!(out, "\n## Errors\n\nEach refuses the configuration; at most 100 are listed at once.\n")?;
    print_pairs(&mut out, NAMES, Code::ALL.map(|code| (code.name(), code.meaning())))?;
    writeln!(out, "\n## Warnings\n\nThe configuration is accepted, and probably not what was meant.\n")?;
    print_pairs(&mut out, NAMES, Oddity::ALL.map(|oddity| (oddity.name(), oddity.meaning())))?;
    Ok(ExitCode::SUCCESS)
}

/// As a Markdown table, which reads well on a terminal, too.
fn print(out: &mut impl Write, keys: &[Key]) -> io::Result<()> {
    let rows: Vec<[String; 4]> = keys
        .iter()
        .map(|key| {
            let code = |text| format!("`{text}`");
            [code(key.name), code(key.default), key.limits.to_owned(), key.meaning.to_owned()]
        })
        .collect();
    let header = ["key", "default", "limits", "meaning"].map(str::to_owned);
    let width = |column: usize| {
        rows.iter().chain([&header]).map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    // The last column ends where its text ends.
    let widths = [width(0), width(1), width(2), 0];
    let rule = widths.map(|width| "-".repeat(width.max(3)));
    for row in [&header, &rule].into_iter().chain(&rows) {
        for (cell, width) in row.iter().zip(widths) {
            write!(out, "| {cell:width$} ")?;
        }
        writeln!(out, "|")?;
    }
    Ok(())
}

fn print_pairs<const N: usize>(
    out: &mut impl Write,
    [left, right]: [&str; 2],
    pairs: [(&str, &str); N],
) -> io::Result<()> {
    writeln!(out, "| {left} | {right} |\n| --- | --- |")?;
    pairs.iter().try_for_each(|(left, right)| writeln!(out, "| `{left}` | {right} |"))
}
