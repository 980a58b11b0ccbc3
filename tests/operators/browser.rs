//! Headless Chromium, spoken to in its debugging protocol over a pair of pipes: no port, no driver, no crate.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Starting takes most of it, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
];

/// A browser with one page.
pub(crate) struct Browser {
    /// Until it is to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    last_id: u64,
    /// Scripts that the policy forbade, errors that nobody caught, and what the page wrote to its console.
    pub(crate) complaints: Vec<String>,
    child: Child,
    profile: TempDir,
}

impl Browser {
    /// Starts a browser and opens a page.
    pub(crate) async fn open(url: &str) -> Result<Self> {
        let binary = find()?;
        let profile = tempfile::Builder::new().prefix("breakerbox-chromium-").tempdir()?;
        let mut child = Command::new("sh")
            // It reads file 3 and writes file 4.
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1"#])
            .arg(&binary)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot run {}", binary.display()))?;
        let input = child.stdin.take().context("its stdin is a pipe")?;
        let output = BufReader::new(child.stdout.take().context("its stdout is a pipe")?);
        let mut browser = Self {
            input: Some(input),
            output,
            session: None,
            last_id: 0,
            complaints: Vec::new(),
            child,
            profile,
        };
        let started = browser.start(url).await;
        started.with_context(|| format!("{} does not do as it is told", binary.display()))?;
        Ok(browser)
    }

    async fn start(&mut self, url: &str) -> Result<()> {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" })).await?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", attach).await?;
        self.session = Some(session["sessionId"].as_str().context("no session")?.to_owned());
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            self.call(domain, json!({})).await?;
        }
        self.call("Page.navigate", json!({ "url": url })).await?;
        self.wait_for("document.readyState", "complete").await
    }

    /// The value of an expression in the page.
    pub(crate) async fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let reply = self.call("Runtime.evaluate", params).await?;
        if let Some(exception) = reply.get("exceptionDetails") {
            bail!("{expression}: {exception}");
        }
        Ok(reply["result"]["value"].clone())
    }

    /// Waits until an expression has a value.
    pub(crate) async fn wait_for(&mut self, expression: &str, value: impl Into<Value>) -> Result<()> {
        let (deadline, value) = (Instant::now() + PATIENCE, value.into());
        loop {
            let seen = self.evaluate(expression).await?;
            if seen == value {
                return Ok(());
            }
            if Instant::now() > deadline {
                let page = self.evaluate("document.body.innerText").await?;
                bail!(
                    "{expression} is {seen} and not {value} within {PATIENCE:?}; {:?}\n{page}",
                    self.complaints
                );
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Clicks with the mouse where an element is, which must be what a person would hit there.
    pub(crate) async fn click(&mut self, element: &str) -> Result<()> {
        let place = format!(
            "(() => {{
                const element = {element};
                element.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                const {{ x, y, width, height }} = element.getBoundingClientRect();
                const centre = {{ x: x + width / 2, y: y + height / 2 }};
                const hit = document.elementFromPoint(centre.x, centre.y);
                return {{ ...centre, free: element.contains(hit) }};
            }})()"
        );
        let place = self.evaluate(&place).await?;
        ensure!(place["free"] == true, "{element} is hidden by something else");
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({
                "type": kind, "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    /// Presses a key that writes nothing, or the one of a character.
    pub(crate) async fn press(&mut self, key: &str) -> Result<()> {
        let (code, text) = match key {
            "Enter" => (13, Some("\r")),
            "Tab" => (9, None),
            "Escape" => (27, None),
            character => (0, Some(character)),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
            if let Some(text) = text.filter(|_| kind == "keyDown") {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event).await?;
        }
        Ok(())
    }

    /// Writes a text where the cursor is.
    pub(crate) async fn write(&mut self, text: &str) -> Result<()> {
        self.call("Input.insertText", json!({ "text": text })).await?;
        Ok(())
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let exchange = async {
            let input = self.input.as_mut().context("it was told to end")?;
            input.write_all(format!("{message}\0").as_bytes()).await?;
            input.flush().await?;
            loop {
                let reply = self.read().await?;
                if reply["id"] == self.last_id {
                    ensure!(reply.get("error").is_none(), "{method}: {}", reply["error"]);
                    return Ok(reply["result"].clone());
                }
                self.listen(&reply);
            }
        };
        tokio::time::timeout(PATIENCE, exchange).await.with_context(|| format!("{method}: no answer"))?
    }

    async fn read(&mut self) -> Result<Value> {
        let mut message = Vec::new();
        self.output.read_until(0, &mut message).await?;
        ensure!(message.pop() == Some(0), "the browser has ended");
        Ok(serde_json::from_slice(&message)?)
    }

    fn listen(&mut self, event: &Value) {
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled") => {
                self.complaints.push(event["params"].to_string());
            }
            // Answers that are no success are logged as well, and some are expected.
            Some("Log.entryAdded") if event["params"]["entry"]["source"] != "network" => {
                self.complaints.push(event["params"]["entry"]["text"].to_string());
            }
            _ => {}
        }
    }
}

fn find() -> Result<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM") {
        let path = PathBuf::from(path);
        ensure!(path.is_file(), "CHROMIUM says {}, where there is no file", path.display());
        return Ok(path);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = |name: &&str| {
        env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
    };
    NAMES.iter().find_map(in_path).with_context(|| {
        format!(
            "the page is tested in a browser, and there is none of {NAMES:?}: run `make browser`, or set \
             CHROMIUM=/path/to/chromium"
        )
    })
}

impl Drop for Browser {
    /// It ends once nobody speaks to it, and its other processes with it. Until they have, they write to their directory.
    fn drop(&mut self) {
        self.input = None;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let is_running = matches!(self.child.try_wait(), Ok(None));
            if !is_running && fs::remove_dir_all(self.profile.path()).is_ok() {
                return;
            }
            thread::sleep(POLL);
        }
    }
}
