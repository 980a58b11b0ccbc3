use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// What is counted of a process.
#[derive(Debug)]
pub(crate) enum Meter {
    /// Nanoseconds on a CPU, as the scheduler accounts for them: the kernel's share included.
    Cpu { process: u32, last: u64 },
    /// Instructions, as valgrind's callgrind counts them: without the kernel's, and the same on a busy machine. The process runs
    /// under it, and its dumps go to this path with a number after it.
    Instructions { process: u32, dump: PathBuf, dumps: u32 },
}

/// What is counted, and a thousand of it.
pub(crate) const CPU: [&str; 2] = ["CPU", "us"];
pub(crate) const INSTRUCTIONS: [&str; 2] = ["instructions", "thousand instructions"];

impl Meter {
    /// Instructions if there is a path for dumps, else CPU.
    pub(crate) fn new(process: u32, dump: Option<PathBuf>) -> Self {
        match dump {
            None => Self::Cpu { process, last: 0 },
            Some(dump) => Self::Instructions { process, dump, dumps: 0 },
        }
    }

    /// What was spent since this was asked last.
    pub(crate) fn spent(&mut self) -> Result<u64> {
        match self {
            Self::Cpu { process, last } => {
                let now = nanos(*process)?;
                Ok(now.saturating_sub(std::mem::replace(last, now)))
            }
            Self::Instructions { process, dump, dumps } => {
                *dumps += 1;
                instructions(*process, &dump.with_added_extension(dumps.to_string()))
            }
        }
    }
}

/// CPU nanoseconds that the threads of a process have had so far.
fn nanos(process: u32) -> Result<u64> {
    let tasks = format!("/proc/{process}/task");
    let mut total = 0_u64;
    for task in fs::read_dir(&tasks).with_context(|| format!("cannot read {tasks}"))? {
        let path = task?.path().join("schedstat");
        // A thread may end in between.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let spent = text.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
        total += spent.with_context(|| format!("{} says {text:?}", path.display()))?;
    }
    Ok(total)
}

/// Has the process write its next dump, which counts from the one before, and reads it.
fn instructions(process: u32, dump: &Path) -> Result<u64> {
    let mut control = Command::new("callgrind_control");
    let output = control.args(["--dump", &process.to_string()]).output()?;
    ensure!(output.status.success(), "callgrind_control: {}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(dump).with_context(|| format!("no dump {}", dump.display()))?;
    fs::remove_file(dump)?;
    let total = text.lines().find_map(|line| line.strip_prefix("summary: ")?.trim().parse().ok());
    total.with_context(|| format!("{} has no summary", dump.display()))
}
