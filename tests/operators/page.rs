//! The page of the role `admin`, in a browser, against a running Envoy.

use anyhow::Result;
use breakerbox_host::upstream::Answer;
use serde_json::json;

use crate::browser::Browser;
use crate::world::World;

/// An expression for the card of a breaker. The id is compared as text.
fn card(id: &str) -> String {
    format!(
        "[...document.querySelectorAll('article')].find((card) => card.querySelector('.id').textContent === {})",
        json!(id)
    )
}

fn state(id: &str) -> String {
    format!("({})?.querySelector('.state').textContent", card(id))
}

fn button(id: &str, control: &str) -> String {
    format!("({}).querySelector('[data-control={control}]')", card(id))
}

async fn open(world: &World) -> Result<Browser> {
    Browser::open(&format!("http://{}/", world.admin.server())).await
}

#[tokio::test]
async fn it_shows_that_a_breaker_opens_when_its_upstream_fails_and_why() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    let mut browser = open(&world).await?;
    browser.wait_for("document.getElementById('empty-title').textContent", "No breakers yet").await?;

    world.call("orders", "/catalog").await?;
    browser.wait_for(&state("orders"), "Closed").await?;
    browser.wait_for("document.title", "breakerbox").await?;

    world.open("orders", 4).await?;
    browser.wait_for(&state("orders"), "Open").await?;
    browser.wait_for("document.title", "(1) breakerbox").await?;
    let text = browser.evaluate(&format!("({}).innerText", card("orders"))).await?.to_string();
    for part in ["4 of 5 calls failed", "Next probe in", "9 min"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    Ok(())
}

#[tokio::test]
async fn its_buttons_force_a_breaker_open_and_reset_it() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.call("orders", "/orders").await?;
    let mut browser = open(&world).await?;
    browser.wait_for(&state("orders"), "Closed").await?;

    // What stops traffic is asked about first, and the safe answer is the one at hand.
    browser.click(&button("orders", "force-open")).await?;
    browser.wait_for("document.getElementById('confirm').open", true).await?;
    browser.press("Enter").await?;
    browser.wait_for("document.getElementById('confirm').open", false).await?;
    assert_eq!(world.breaker("orders").await?["state"], "closed");

    browser.click(&button("orders", "force-open")).await?;
    browser.wait_for("document.getElementById('confirm').open", true).await?;
    browser.click("document.getElementById('confirm-yes')").await?;
    browser.wait_for(&state("orders"), "Forced open").await?;
    assert_eq!(world.breaker("orders").await?["state"], "forced_open");
    assert_eq!(world.call("orders", "/orders").await?.status, 503);

    // By keyboard.
    browser.evaluate(&format!("({}).focus()", button("orders", "reset"))).await?;
    browser.press("Enter").await?;
    browser.wait_for(&state("orders"), "Closed").await?;
    assert_eq!(world.call("orders", "/orders").await?.status, 200);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    Ok(())
}

#[tokio::test]
async fn a_breaker_that_failures_in_a_row_opened_shows_them_and_that_its_wait_is_over() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.call("row", "/catalog").await?;
    let mut browser = open(&world).await?;
    let text = |selector| format!("({}).querySelector('{selector}').innerText", card("row"));
    browser.wait_for(&text(".row"), "0 of 3").await?;
    browser.wait_for(&text(".failure .reading"), "judged after 4 more calls").await?;

    world.open("row", 3).await?;
    browser.wait_for(&state("row"), "Open").await?;
    assert_eq!(browser.evaluate(&text(".row")).await?, "3");
    // What is known of it is judged no more.
    assert_eq!(browser.evaluate(&text(".failure .reading")).await?, "75 % of 4 calls");

    browser.wait_for(&text(".wait-label"), "Its wait is over, after").await?;
    assert_eq!(browser.evaluate(&text(".wait-time")).await?, "1.0 s");
    let since = browser.evaluate(&text(".since")).await?.to_string();
    assert!(since.contains("Rejected every call; the next one is a probe"), "{since}");

    // Its probe fails, and it shows what opened it then.
    world.call("row", "/orders").await?;
    browser.wait_for(&text(".calls-label"), "Probes").await?;
    browser.wait_for(&text(".failure .reading"), "100 % · threshold 50 %").await?;
    assert_eq!(browser.evaluate(&text(".row")).await?, "–");
    assert_eq!(browser.evaluate(&state("row")).await?, "Open");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    Ok(())
}

#[tokio::test]
async fn where_all_probes_must_succeed_no_rate_is_waited_for() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.open("strict", 5).await?;
    assert_eq!(world.call("strict", "/catalog").await?.status, 200);
    let mut browser = open(&world).await?;
    browser.wait_for(&state("strict"), "Half-open").await?;
    for (meter, reading) in [("failure", "one failed probe opens it"), ("slow", "one slow probe opens it")] {
        let text = format!("({}).querySelector('.{meter} .reading').innerText", card("strict"));
        browser.wait_for(&text, reading).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_breaker_in_shadow_mode_is_not_said_to_reject() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.call("orders", "/catalog").await?;
    world.open("shadow", 5).await?;
    let modes = [world.breaker("orders").await?, world.breaker("shadow").await?].map(|it| it["mode"].clone());
    assert_eq!(modes, ["enforce", "shadow"]);

    let mut browser = open(&world).await?;
    browser.wait_for(&state("shadow"), "Open").await?;
    let mark = |id| format!("({}).querySelector('.mode').checkVisibility()", card(id));
    assert_eq!(browser.evaluate(&mark("shadow")).await?, true);
    assert_eq!(browser.evaluate(&mark("orders")).await?, false);
    let text = format!("({}).innerText", card("shadow"));
    let says = browser.evaluate(&text).await?.to_string();
    assert!(says.contains("Would reject every call"), "{says}");

    browser.click(&button("shadow", "force-open")).await?;
    browser.wait_for("document.getElementById('confirm').open", true).await?;
    let asks = browser.evaluate("document.getElementById('confirm-text').textContent").await?.to_string();
    assert!(asks.contains("rejects nothing"), "{asks}");
    browser.click("document.getElementById('confirm-yes')").await?;
    browser.wait_for(&state("shadow"), "Forced open").await?;
    let says = browser.evaluate(&text).await?.to_string();
    assert!(says.contains("It would let nothing reach the upstream"), "{says}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    Ok(())
}

#[tokio::test]
async fn markup_in_an_id_is_shown_as_text_and_its_buttons_work() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    let id = r#"<img src=x onerror="document.title='hit'">/?a#b%41 c"#;
    world.call(id, "/orders").await?;
    let mut browser = open(&world).await?;
    browser.wait_for(&state(id), "Closed").await?;
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length").await?, 0);
    browser.click(&button(id, "disable")).await?;
    browser.wait_for("document.getElementById('confirm-id').textContent", id).await?;
    browser.click("document.getElementById('confirm-yes')").await?;
    browser.wait_for(&state(id), "Disabled").await?;
    assert_eq!(world.breaker(id).await?["state"], "disabled");
    assert_eq!(browser.evaluate("document.title").await?, "breakerbox");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    Ok(())
}

#[tokio::test]
async fn it_asks_for_the_token() -> Result<()> {
    let world = World::start(&json!({ "role": "admin", "token": "s3cret" })).await?;
    world.call("orders", "/orders").await?;
    let mut browser = open(&world).await?;
    browser.wait_for("document.getElementById('ask').open", true).await?;
    for (token, is_wrong) in [("wrong", true), ("s3cret", false)] {
        browser.evaluate("document.getElementById('token').focus()").await?;
        browser.write(token).await?;
        browser.press("Enter").await?;
        if is_wrong {
            browser.wait_for("document.getElementById('ask-wrong').checkVisibility()", true).await?;
        }
    }
    browser.wait_for(&state("orders"), "Closed").await?;
    assert_eq!(browser.evaluate("document.getElementById('ask').open").await?, false);
    Ok(())
}

#[tokio::test]
async fn the_filter_box_finds_one_among_many() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.upstream.on("/orders", Answer::Status(200));
    for number in 0..30 {
        world.call(&format!("route-{number}"), "/orders").await?;
    }
    let mut browser = open(&world).await?;
    browser.wait_for("document.querySelectorAll('article').length", 30).await?;
    browser.press("/").await?;
    browser.wait_for("document.activeElement.id", "filter").await?;
    browser.write("ROUTE-17").await?;
    browser.wait_for("document.querySelectorAll('article').length", 1).await?;
    browser.press("Escape").await?;
    browser.wait_for("document.querySelectorAll('article').length", 30).await?;
    Ok(())
}

#[tokio::test]
async fn it_says_so_when_the_proxy_is_gone() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.call("orders", "/orders").await?;
    let mut browser = open(&world).await?;
    browser.wait_for(&state("orders"), "Closed").await?;
    drop(world);
    browser
        .wait_for("document.getElementById('trouble-title').textContent", "The proxy does not answer.")
        .await?;
    assert_eq!(browser.evaluate("document.getElementById('link').innerText.trim()").await?, "Not reachable");
    Ok(())
}
