//! The manifests for Istio and Envoy Gateway and the image that both load.

use anyhow::{Context as _, Result, ensure};
use breakerbox_config::{FilterConfig, Role};
use serde_json::{Value, json};

const ENVOY: &str = include_str!("../../envoy/envoy.yaml");
const ISTIO: &str = include_str!("../../envoy/istio.yaml");
const ENVOY_GATEWAY: &str = include_str!("../../envoy/envoy-gateway.yaml");
const DOCKERFILE: &str = include_str!("../../envoy/Dockerfile");
const DOCKERIGNORE: &str = include_str!("../../.dockerignore");

/// The resources of a manifest, each of which says what it is.
fn resources(manifest: &str) -> Result<Vec<Value>> {
    let resources = manifest.split("\n---\n").map(|text| {
        let resource: Value = serde_saphyr::from_str(text)?;
        for part in ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace", "/spec"] {
            resource.pointer(part).with_context(|| format!("no {part} in {resource}"))?;
        }
        Ok(resource)
    });
    resources.collect()
}

fn of_kind<'a>(resources: &'a [Value], kind: &str) -> Vec<&'a Value> {
    resources.iter().filter(|resource| resource["kind"] == kind).collect()
}

/// The filter must accept it, and have nothing to say about it.
fn accepted(config: &Value) -> Result<FilterConfig> {
    let accepted = breakerbox_config::filter(&config.to_string());
    let config = accepted.map_err(|problems| anyhow::anyhow!("{config}: {problems:?}"))?;
    ensure!(config.warnings.is_empty(), "{:?}", config.warnings);
    Ok(config)
}

/// The name of the image, from the command in the recipe's comment.
fn image() -> Result<&'static str> {
    let (_, rest) = DOCKERFILE.split_once("--tag ").context("the recipe does not say how to build it")?;
    rest.split_whitespace().next().context("--tag without a name")
}

fn stats_tags(envoy: &Value) -> Result<&Value> {
    envoy.pointer("/stats_config/stats_tags").context("no stats_tags")
}

#[test]
fn istio_gets_a_filter_and_an_admin_of_one_image() -> Result<()> {
    let resources = resources(ISTIO)?;
    let plugins = of_kind(&resources, "WasmPlugin");
    let [filter, admin] = plugins[..] else { anyhow::bail!("not two plugins: {plugins:?}") };
    assert_eq!(accepted(&filter["spec"]["pluginConfig"])?.role, Role::Filter);
    assert!(matches!(accepted(&admin["spec"]["pluginConfig"])?.role, Role::Admin { token: Some(_) }));
    for plugin in [filter, admin] {
        assert_eq!(plugin["apiVersion"], "extensions.istio.io/v1alpha1");
        assert_eq!(plugin["spec"]["url"], format!("oci://{}", image()?));
        assert_eq!(plugin["spec"]["type"], "HTTP");
        assert_eq!(plugin["spec"]["failStrategy"], "FAIL_RELOAD");
        assert_eq!(plugin["spec"]["selector"], filter["spec"]["selector"]);
    }
    Ok(())
}

#[test]
fn envoy_gateway_gets_a_policy_with_the_image() -> Result<()> {
    let resources = resources(ENVOY_GATEWAY)?;
    let policies = of_kind(&resources, "EnvoyExtensionPolicy");
    let [policy] = policies[..] else { anyhow::bail!("not one policy: {policies:?}") };
    assert_eq!(policy["apiVersion"], "gateway.envoyproxy.io/v1alpha1");
    let wasm = &policy["spec"]["wasm"][0];
    assert_eq!(accepted(&wasm["config"])?.role, Role::Filter);
    assert_eq!(wasm["code"]["type"], "Image");
    assert_eq!(wasm["code"]["image"]["url"], image()?);
    Ok(())
}

#[test]
fn labels_are_made_by_the_same_rules_everywhere() -> Result<()> {
    let envoy: Value = serde_saphyr::from_str(ENVOY)?;
    let istio = resources(ISTIO)?;
    let patch = of_kind(&istio, "EnvoyFilter").pop().context("no EnvoyFilter")?;
    let patch = &patch["spec"]["configPatches"][0];
    assert_eq!(patch["applyTo"], "BOOTSTRAP");
    assert_eq!(stats_tags(&patch["patch"]["value"])?, stats_tags(&envoy)?);

    let gateway = resources(ENVOY_GATEWAY)?;
    let proxy = of_kind(&gateway, "EnvoyProxy").pop().context("no EnvoyProxy")?;
    let bootstrap = proxy["spec"]["bootstrap"]["value"].as_str().context("no bootstrap")?;
    let bootstrap: Value = serde_saphyr::from_str(bootstrap)?;
    assert_eq!(stats_tags(&bootstrap)?, stats_tags(&envoy)?);
    Ok(())
}

#[test]
fn moves_of_breakers_are_in_the_log_or_it_is_said_how() -> Result<()> {
    let gateway = resources(ENVOY_GATEWAY)?;
    let proxy = of_kind(&gateway, "EnvoyProxy").pop().context("no EnvoyProxy")?;
    assert_eq!(proxy["spec"]["logging"]["level"], json!({ "default": "warn", "wasm": "info" }));
    // In Istio that belongs to the gateway's pods, which are not in this manifest.
    let said = ISTIO.lines().filter(|line| line.starts_with('#'));
    assert_eq!(said.filter(|line| line.contains("sidecar.istio.io/componentLogLevel: wasm:info")).count(), 1);
    Ok(())
}

#[test]
fn the_image_is_the_filter_that_the_build_leaves_where_both_look_for_it() -> Result<()> {
    let steps: Vec<_> = DOCKERFILE.lines().filter(|line| !line.starts_with('#')).collect();
    let [from, copy] = steps[..] else { anyhow::bail!("not two steps: {steps:?}") };
    assert_eq!(from, "FROM scratch");
    let envoy: Value = serde_saphyr::from_str(ENVOY)?;
    let listeners = envoy["static_resources"]["listeners"].as_array().context("no listeners")?;
    ensure!(listeners.len() == 2);
    for listener in listeners {
        let filter =
            listener.pointer("/filter_chains/0/filters/0/typed_config/http_filters/0/typed_config/config");
        let code = filter.and_then(|filter| filter.pointer("/vm_config/code/local/filename"));
        let code = code.and_then(Value::as_str).context("no code in envoy.yaml")?;
        assert_eq!(copy, format!("COPY {code} /plugin.wasm"));
        // Nothing else is sent to whatever builds it.
        let sent: Vec<_> = DOCKERIGNORE.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(sent, ["*", &format!("!{code}")]);
    }
    Ok(())
}
