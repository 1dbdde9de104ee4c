//! The page in a real browser: Chromium without a screen, by its WebDriver. It draws the map, and follows rates, failures and subflows.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Client, Folder, World};

/// Limit of every wait, for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Chromium, until it is dropped.
struct Browser {
    driver: Child,
    /// Read by nobody, but open: the driver writes to it.
    _output: BufReader<ChildStdout>,
    client: Client,
    session: String,
    _profile: Folder,
}

impl Browser {
    /// None without chromedriver; the test is then skipped.
    fn start() -> Option<Self> {
        let profile = Folder::new();
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut driver) = started else {
            eprintln!("skipped: no chromedriver; `make setup` installs it");
            return None;
        };
        let mut output = BufReader::new(driver.stdout.take().expect("pipe"));
        let port = output
            .by_ref()
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                let port = line.split("started successfully on port ").nth(1)?;
                port.trim_end_matches('.').parse::<u16>().ok()
            });
        let client = Client::new(([127, 0, 0, 1], port.expect("a port")).into(), "");
        let mut browser = Self {
            driver,
            _output: output,
            client,
            session: String::new(),
            _profile: profile,
        };
        let profile = format!("--user-data-dir={}", browser._profile.display());
        // Root has no sandbox; the page is ours.
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            &profile,
        ];
        let options = json!({ "args": arguments });
        let capabilities = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } } } });
        let answer = browser
            .client
            .send("POST", "/session", &capabilities.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        browser.session = answer.json()["value"]["sessionId"].as_str().unwrap().into();
        Some(browser)
    }

    fn post(&self, path: &str, body: Value) -> Value {
        let path = format!("/session/{}/{path}", self.session);
        let answer = self.client.send("POST", &path, &body.to_string());
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()["value"].clone()
    }

    fn evaluate(&self, script: &str) -> Value {
        self.post(
            "execute/sync",
            json!({ "script": format!("return {script}"), "args": [] }),
        )
    }

    /// Waits until an expression has this value.
    fn until(&self, script: &str, expected: &Value) {
        let begin = Instant::now();
        loop {
            let value = self.evaluate(script);
            if value == *expected {
                return;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "{script} is {value}, not {expected}"
            );
            std::thread::sleep(Duration::from_millis(50)); // between two looks, not for an event
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self
            .client
            .send("DELETE", &format!("/session/{}", self.session), "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[test]
fn the_page_draws_the_live_map() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let world = World::new();
    let url = format!("http://{}/", world.address());
    // Without a token it asks, and takes none that is wrong.
    browser.post("url", json!({ "url": url }));
    browser.until(
        "document.getElementById('login').checkVisibility()",
        &json!(true),
    );
    browser.post("url", json!({ "url": format!("{url}#token=wrong") }));
    browser.post("refresh", json!({}));
    browser.until(
        "document.getElementById('login').checkVisibility()",
        &json!(true),
    );
    let enter = format!(
        "(document.getElementById('token').value = '{}', document.querySelector('form button').click(), 1)",
        world.viewer_token()
    );
    browser.evaluate(&enter);
    browser.until(
        "document.getElementById('state').dataset.state",
        &json!("live"),
    );
    browser.until(
        "document.getElementById('login').checkVisibility()",
        &json!(false),
    );
    assert_eq!(
        browser.evaluate("document.getElementById('map').checkVisibility()"),
        true
    );
    // The token is not in the address.
    assert_eq!(browser.evaluate("location.hash"), "");
    browser.until(
        "document.querySelectorAll('#map line').length",
        &json!(world.links().len()),
    );
    assert_eq!(
        browser.evaluate("document.querySelectorAll('#map circle').length"),
        5
    );
    let class = |link: &str| {
        format!("document.querySelector('[data-link=\"{link}\"]').getAttribute('class')")
    };
    browser.until(&class("n2 – n4"), &json!("low"));
    // Two subflows, which are then coupled because a link fails.
    let one = world.endpoint("one", &["10.0.0.0/15"]);
    let session = one.session();
    one.report(
        &session,
        1,
        &[
            ("10.0.0.1:1", "10.4.0.1:443"),
            ("10.1.0.1:1", "10.4.0.1:443"),
        ],
    );
    browser.until(&class("n2 – n4"), &json!("low used"));
    let groups = "[...document.querySelectorAll('#connections .group')].map((group) => group.textContent).join()";
    browser.until(groups, &json!("0,1"));
    let down = json!({ "links": [{ "link": "n2 – n4", "up": false }] });
    assert_eq!(
        world
            .operator()
            .send("PUT", "/v1/links", &down.to_string())
            .status,
        204
    );
    browser.until(&class("n2 – n4"), &json!("down"));
    browser.until(groups, &json!("0,0"));
    // Names of endpoints are text, whatever they are; a new map is drawn.
    let map = json!({ "nodes": [{ "name": "<img src=x>" }, { "name": "b" }], "links": [{ "from": "b", "to": "<img src=x>" }] });
    assert_eq!(
        world
            .operator()
            .send("PUT", "/v1/map", &map.to_string())
            .status,
        204
    );
    browser.until("document.querySelectorAll('#map circle').length", &json!(2));
    assert_eq!(browser.evaluate("document.images.length"), 0);
    // Nothing came from elsewhere, and nothing failed but the refused token.
    let resources = "performance.getEntriesByType('resource').every((entry) => entry.name.startsWith(location.origin))";
    assert_eq!(browser.evaluate(resources), true);
    let log = browser.post("se/log", json!({ "type": "browser" }));
    let log: Vec<&Value> = (log.as_array().unwrap().iter())
        .filter(|entry| {
            entry["level"] == "SEVERE" && !entry["message"].as_str().unwrap().contains("401")
        })
        .filter(|entry| !entry["message"].as_str().unwrap().contains("favicon"))
        .collect();
    assert!(log.is_empty(), "{log:?}");
}
