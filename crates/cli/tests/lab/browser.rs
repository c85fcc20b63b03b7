//! Controls Chromium with the Chrome DevTools protocol over two pipes. Each message is a JSON text followed by a zero
//! byte.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Timeout for work that takes 1 s on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(40);

pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    number: u64,
    /// Addresses that pages have requested.
    pub requests: Vec<String>,
    /// Errors that pages have reported.
    pub complaints: Vec<String>,
    /// Private folder for the browser's data and for the page, removed on drop.
    pub folder: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium. Returns `None` if Chromium is not installed.
    pub fn start() -> Option<Browser> {
        let folder = tempfile::tempdir().expect("a folder");
        let installed = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
            Command::new(name).arg("--version").output().is_ok_and(|told| told.status.success())
        });
        let Some(program) = installed else {
            eprintln!("skipped: no Chromium to open the page with");
            return None;
        };
        // Chromium reads messages from file descriptor 3 and writes messages to file descriptor 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>&1", program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let (requests, complaints) = (Vec::new(), Vec::new());
        let mut browser =
            Browser { child, to, from, session: String::new(), number: 0, requests, complaints, folder };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.size(1400, 900);
        Some(browser)
    }

    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser must run");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect("the browser must run");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).expect("the browser answers in JSON");
            self.note(&answer);
            if answer["id"] == json!(self.number) {
                assert_eq!(answer["error"], Value::Null, "{method}");
                return answer["result"].clone();
            }
        }
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                self.requests.push(parameters["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(parameters["exceptionDetails"].to_string())
            }
            Some("Log.entryAdded") => self.complaints.push(parameters["entry"]["text"].to_string()),
            _ => {}
        }
    }

    pub fn size(&mut self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    pub fn scheme(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    pub fn open(&mut self, file: &Path, hash: &str) {
        self.show(file, hash);
        self.wait("document.body && Number(document.body.dataset.pictures) > 0");
    }

    pub fn show(&mut self, file: &Path, hash: &str) {
        // A change of only the fragment of the URL (`#…`) would not reload the page.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.wait("location.href === 'about:blank'");
        let address = format!("file://{}{hash}", file.display());
        let told = self.call("Page.navigate", json!({ "url": address }));
        assert_eq!(told["errorText"], Value::Null, "{address}");
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'");
    }

    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_else(|| panic!("no text: {expression}")).to_owned()
    }

    pub fn wait(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.value(&format!("Boolean({expression})")) != json!(true) {
            if begun.elapsed() > TIMEOUT {
                let state = self
                    .value("[document.body.dataset.error, document.getElementById('status')?.textContent]");
                panic!("the condition never became true: {expression}: {state} {:?}", self.complaints);
            }
            sleep(Duration::from_millis(15));
        }
    }

    /// Presses and releases a key, given as `KeyboardEvent.key`.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        let mut event = json!({ "type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code });
        if key == "Enter" {
            event["text"] = json!("\r");
        } else if key.len() == 1 {
            event["text"] = json!(key);
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", event);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
