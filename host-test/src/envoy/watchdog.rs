use std::io;
use std::process::{Child, Command, Stdio};

/// Kills a process when this one is gone, in whatever way: a test that is killed must not leave an Envoy behind.
///
/// It is a shell that waits for the end of its input. The other end of that pipe is held by this process only, so it closes
/// when this process ends. (`PR_SET_PDEATHSIG` would fire when the thread that spawned Envoy ends, which may be much earlier.)
#[derive(Debug)]
pub(super) struct Watchdog(Child);

impl Watchdog {
    pub(super) fn watch(pid: u32) -> io::Result<Self> {
        let shell = Command::new("sh")
            // An interrupt from the terminal reaches the shell too, and must not end it before its work is done.
            .args(["-c", "trap '' INT TERM HUP; read -r _; kill -9 \"$1\"", "watchdog"])
            .arg(pid.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(shell))
    }
}

impl Drop for Watchdog {
    /// Calls it off. Must happen before the watched process is reaped, as its number may then be another's.
    fn drop(&mut self) {
        // Both fail only if the shell is already gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
