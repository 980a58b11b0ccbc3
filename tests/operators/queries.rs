//! What the dashboard and the alerts ask Prometheus for is what a running Envoy has.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail, ensure};
use breakerbox_host::envoy::Metrics;
use serde_json::{Value, json};

use crate::world::World;

const DASHBOARD: &str = include_str!("../../envoy/grafana-dashboard.json");
const ALERTS: &str = include_str!("../../envoy/prometheus-alerts.yaml");

/// What Prometheus adds to whatever it scrapes.
const ADDED: [&str; 2] = ["instance", "job"];

/// The metrics of breakers that a query names, with their conditions, and the labels that it groups by.
#[derive(Debug, Default, PartialEq, Eq)]
struct Query {
    metrics: Vec<(String, Vec<Condition>)>,
    labels: BTreeSet<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Condition {
    label: String,
    /// Those that are wanted; none if that depends on a variable.
    values: Vec<String>,
}

impl Query {
    /// Reads as much of a query as it takes to find names in it.
    fn read(text: &str) -> Result<Self> {
        let mut query = Self::default();
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            rest = &rest[start..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let word = &rest[..end];
            rest = rest[end..].trim_start();
            if word == "by" || word == "on" {
                let (labels, after) = between(rest, '(', ')')?;
                query.labels.extend(labels.split(',').map(|label| label.trim().to_owned()));
                rest = after;
            } else if word.starts_with("breakerbox") {
                let mut conditions = Vec::new();
                if rest.starts_with('{') {
                    let (matchers, after) = between(rest, '{', '}')?;
                    conditions = matchers.split(',').map(Condition::read).collect::<Result<_>>()?;
                    rest = after;
                }
                query.metrics.push((word.to_owned(), conditions));
            }
        }
        ensure!(!query.metrics.is_empty(), "{text} asks for no metric of breakers");
        Ok(query)
    }

    /// Whether Envoy has all of it, with these labels as well.
    fn check(&self, metrics: &Metrics, shown: &BTreeSet<String>) -> Result<()> {
        for (name, conditions) in &self.metrics {
            let samples: Vec<_> = metrics.matching(name, &[]).collect();
            ensure!(!samples.is_empty(), "Envoy has no {name} among\n{metrics}");
            let asked = conditions.iter().map(|condition| &condition.label);
            for label in
                asked.chain(&self.labels).chain(shown).filter(|label| !ADDED.contains(&label.as_str()))
            {
                let has = samples.iter().all(|sample| sample.labels.contains_key(label));
                ensure!(has, "{name} has no label {label} in\n{metrics}");
            }
            for Condition { label, values } in conditions {
                for value in values {
                    let found = samples.iter().any(|sample| sample.labels.get(label) == Some(value));
                    ensure!(found, "{name} has no {label}={value} in\n{metrics}");
                }
            }
        }
        Ok(())
    }
}

impl Condition {
    fn read(matcher: &str) -> Result<Self> {
        let (label, value) = matcher.split_once('=').with_context(|| format!("{matcher} is no condition"))?;
        let value = value.trim_start_matches('~').trim().trim_matches('"');
        let values = if value.contains('$') { "" } else { value };
        let values = values.split('|').filter(|value| !value.is_empty()).map(str::to_owned).collect();
        Ok(Self { label: label.trim().to_owned(), values })
    }
}

fn between(text: &str, open: char, close: char) -> Result<(&str, &str)> {
    let inside = text.strip_prefix(open).and_then(|rest| rest.split_once(close));
    inside.with_context(|| format!("{open} without {close} in {text}"))
}

/// The labels that a text shows, between these two.
fn shown(text: &str, before: &str, after: impl Fn(char) -> bool) -> BTreeSet<String> {
    let parts = text.split(before).skip(1);
    parts.map(|part| part.split(&after).next().unwrap_or_default().trim().to_owned()).collect()
}

/// Of an Envoy in which a breaker has moved, as transitions are counted from the first on, and one of each kind was called.
async fn metrics() -> Result<Metrics> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    for breaker in ["a.b/c", "shadow", "spare"] {
        world.call(breaker, "/catalog").await?;
    }
    world.open("orders", 5).await?;
    world.envoy.metrics().await
}

#[tokio::test]
async fn every_panel_of_the_dashboard_asks_for_what_envoy_has() -> Result<()> {
    let metrics = metrics().await?;
    let dashboard: Value = serde_json::from_str(DASHBOARD)?;
    let panels = dashboard["panels"].as_array().context("no panels")?;
    ensure!(panels.len() > 5);
    for panel in panels {
        for target in panel["targets"].as_array().context("no targets")? {
            let (Some(query), Some(legend)) = (target["expr"].as_str(), target["legendFormat"].as_str())
            else {
                bail!("a target without query or legend: {target}");
            };
            let shown = shown(legend, "{{", |c| c == '}');
            Query::read(query)?.check(&metrics, &shown).with_context(|| panel["title"].to_string())?;
        }
    }
    for variable in dashboard["templating"]["list"].as_array().context("no variables")? {
        if let Some(query) = variable["query"]["query"].as_str() {
            let (_, label) = query.trim_end_matches(')').rsplit_once(", ").context("no label_values")?;
            Query::read(query)?.check(&metrics, &BTreeSet::from([label.to_owned()]))?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn every_alert_asks_for_what_envoy_has() -> Result<()> {
    let metrics = metrics().await?;
    let alerts: Value = serde_saphyr::from_str(ALERTS)?;
    let rules = alerts["groups"][0]["rules"].as_array().context("no rules")?;
    ensure!(rules.len() > 3);
    for rule in rules {
        let name = rule["alert"].as_str().context("a rule without a name")?;
        let query = rule["expr"].as_str().with_context(|| format!("{name} has no expr"))?;
        let texts = rule["annotations"].to_string();
        let shown = shown(&texts, "$labels.", |c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        Query::read(query)?.check(&metrics, &shown).with_context(|| name.to_owned())?;
        ensure!(rule["labels"]["severity"].is_string(), "{name} has no severity");
        ensure!(rule["annotations"]["summary"].is_string(), "{name} has no summary");
    }
    Ok(())
}

#[tokio::test]
async fn an_open_breaker_that_keeps_nothing_from_its_upstream_alerts_nobody() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    let breakers = ["orders", "shadow", "idle"];
    for breaker in breakers {
        world.open(breaker, 5).await?;
    }
    for breaker in ["orders", "shadow"] {
        world.call(breaker, "/orders").await?;
    }
    let metrics = world.envoy.metrics().await?;
    assert_eq!(breakers.map(|breaker| metrics.state(breaker)), [Some("open"); 3]);
    let rejected = |breaker| metrics.sum("breakerbox_not_permitted_calls", &[("breaker", breaker)]);
    assert_eq!(breakers.map(rejected), [1, 0, 0]);

    let alerts: Value = serde_saphyr::from_str(ALERTS)?;
    let rules = alerts["groups"][0]["rules"].as_array().context("no rules")?;
    let open = rules.iter().find(|rule| rule["alert"] == "BreakerOpen").context("no BreakerOpen")?;
    let (_, also) = open["expr"].as_str().and_then(|expr| expr.split_once("and on")).context("no `and`")?;
    let asked: Vec<_> = Query::read(also)?.metrics.into_iter().map(|(name, _)| name).collect();
    assert_eq!(asked, ["breakerbox_not_permitted_calls"]);
    Ok(())
}

#[test]
fn names_are_found_in_a_query() -> Result<()> {
    let query = Query::read(
        r#"sum by (breaker) (rate(breakerbox_calls{breaker=~"$breaker", kind=~"failed|stale"}[5m])) > breakerbox_state"#,
    )?;
    let condition = |label: &str, values: &[&str]| Condition {
        label: label.to_owned(),
        values: values.iter().map(|&value| value.to_owned()).collect(),
    };
    assert_eq!(
        query,
        Query {
            metrics: vec![
                (
                    "breakerbox_calls".into(),
                    vec![condition("breaker", &[]), condition("kind", &["failed", "stale"])]
                ),
                ("breakerbox_state".into(), vec![]),
            ],
            labels: BTreeSet::from(["breaker".to_owned()]),
        }
    );
    assert!(Query::read("up == 0").is_err());
    Ok(())
}
