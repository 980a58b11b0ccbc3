use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::guests;

const SHIPPED: &str = include_str!("../../../envoy/envoy.yaml");
const FILTER_NAME: &str = "breakerbox";

/// A configuration for Envoy: a document to be changed before it is run.
///
/// Methods that look for a part of it name the part in the error if it is missing.
#[derive(Clone, Debug)]
pub struct Bootstrap(Value);

impl Bootstrap {
    /// The repository's `envoy/envoy.yaml`, with the filter that was built with this library and free ports in place of its
    /// fixed ones. Its clusters still have to be pointed somewhere.
    ///
    /// # Errors
    /// The file was changed so that the filter is not found in it.
    pub fn shipped() -> Result<Self> {
        let mut bootstrap = Self::from_yaml(SHIPPED).context("envoy/envoy.yaml")?;
        bootstrap.use_filter(Path::new(guests::FILTER_WASM)).context("envoy/envoy.yaml")?;
        Ok(bootstrap)
    }

    /// A configuration in YAML or JSON. Its admin interface and its listeners get free ports of the loopback interface.
    ///
    /// # Errors
    /// It is not YAML, or not a mapping.
    pub fn from_yaml(text: &str) -> Result<Self> {
        let mut document: Value = serde_saphyr::from_str(text).context("it is not YAML")?;
        ensure!(document.is_object(), "it is not a mapping of admin, static_resources and so on");
        document["admin"]["address"] = free_port();
        let listeners = document.pointer_mut("/static_resources/listeners");
        for listener in listeners.and_then(Value::as_array_mut).into_iter().flatten() {
            listener["address"] = free_port();
        }
        Ok(Self(document))
    }

    /// Points a cluster at a server.
    ///
    /// # Errors
    /// There is no such cluster.
    pub fn point_cluster_at(&mut self, cluster: &str, server: SocketAddr) -> Result<()> {
        self.cluster(cluster)?["load_assignment"]["endpoints"] = json!([{ "lb_endpoints": [
            { "endpoint": { "address": socket_address(&server.ip().to_string(), server.port()) } }
        ] }]);
        Ok(())
    }

    /// Sets the filter's own configuration, given as text so that a test can say anything, also what is not JSON.
    ///
    /// # Errors
    /// The filter is not in the configuration.
    pub fn configure_filter(&mut self, configuration: &str) -> Result<()> {
        self.filter()?["configuration"] = json!({
            "@type": "type.googleapis.com/google.protobuf.StringValue",
            "value": configuration,
        });
        Ok(())
    }

    /// The filter's own configuration.
    ///
    /// # Errors
    /// The filter is not in the configuration, or has none that is JSON.
    pub fn filter_configuration(&mut self) -> Result<Value> {
        let text = self.filter()?["configuration"]["value"].as_str().unwrap_or_default();
        serde_json::from_str(text).context("the filter's configuration is not JSON")
    }

    /// Loads this wasm file as the filter, in every listener that has one: those with the same code share a VM.
    ///
    /// # Errors
    /// The filter is not in the first listener.
    pub fn use_filter(&mut self, wasm: &Path) -> Result<()> {
        self.filter()?;
        let listeners = self.part("/static_resources/listeners")?.as_array_mut();
        for listener in listeners.into_iter().flatten() {
            let filters = listener.pointer_mut("/filter_chains/0/filters/0/typed_config/http_filters");
            if let Ok(filter) = named(filters, FILTER_NAME, "http filter") {
                filter["typed_config"]["config"]["vm_config"]["code"] =
                    json!({ "local": { "filename": wasm } });
            }
        }
        Ok(())
    }

    /// Sets the configuration of the filter that has the role `admin`.
    ///
    /// # Errors
    /// There is no second listener.
    pub fn configure_admin(&mut self, configuration: &Value) -> Result<()> {
        const FILTER: &str = "/static_resources/listeners/1/filter_chains/0/filters/0/typed_config/http_filters/0/typed_config/config";
        self.part(FILTER)?["configuration"]["value"] = json!(configuration.to_string());
        Ok(())
    }

    /// Takes the filter out, for a run to compare with.
    ///
    /// # Errors
    /// There is no list of filters to take it from.
    pub fn remove_filter(&mut self) -> Result<()> {
        let filters = self.connection_manager()?["http_filters"].as_array_mut();
        filters.context("there are no http_filters")?.retain(|filter| filter["name"] != FILTER_NAME);
        Ok(())
    }

    /// Speaks HTTP/2 to a cluster, as gRPC needs it.
    ///
    /// # Errors
    /// There is no such cluster.
    pub fn use_http2(&mut self, cluster: &str) -> Result<()> {
        const OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
        self.cluster(cluster)?["typed_extension_protocol_options"][OPTIONS] = json!({
            "@type": format!("type.googleapis.com/{OPTIONS}"),
            "explicit_http_config": { "http2_protocol_options": {} },
        });
        Ok(())
    }

    /// Lets clients upgrade to websocket.
    ///
    /// # Errors
    /// The first listener is not one for HTTP.
    pub fn allow_websocket(&mut self) -> Result<()> {
        self.connection_manager()?["upgrade_configs"] = json!([{ "upgrade_type": "websocket" }]);
        Ok(())
    }

    /// The filter's `config` in the first listener: `name`, `vm_config`, `configuration` and so on.
    ///
    /// # Errors
    /// The filter is not in the configuration.
    pub fn filter(&mut self) -> Result<&mut Value> {
        let filters = self.connection_manager()?.get_mut("http_filters");
        named(filters, FILTER_NAME, "http filter")?
            .pointer_mut("/typed_config/config")
            .with_context(|| format!("the http filter {FILTER_NAME} has no typed_config.config"))
    }

    /// The settings of the HTTP connection manager of the first listener: `route_config`, `http_filters` and so on.
    ///
    /// # Errors
    /// There is none.
    pub fn connection_manager(&mut self) -> Result<&mut Value> {
        let path = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config";
        self.part(path)
    }

    /// A cluster.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn cluster(&mut self, name: &str) -> Result<&mut Value> {
        named(self.0.pointer_mut("/static_resources/clusters"), name, "cluster")
    }

    /// A route of the first virtual host.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn route(&mut self, name: &str) -> Result<&mut Value> {
        let manager = self.connection_manager()?;
        named(manager.pointer_mut("/route_config/virtual_hosts/0/routes"), name, "route")
    }

    /// Any part of the document, by its JSON pointer.
    ///
    /// # Errors
    /// There is nothing.
    pub fn part(&mut self, pointer: &str) -> Result<&mut Value> {
        self.0.pointer_mut(pointer).with_context(|| format!("there is nothing at {pointer}"))
    }

    /// The name of the first listener.
    pub(super) fn first_listener(&self) -> Option<&str> {
        self.0.pointer("/static_resources/listeners/0/name")?.as_str()
    }

    /// The listeners, as the file that Envoy watches holds them.
    pub(super) fn listeners(&self) -> Value {
        let listeners = self.0.pointer("/static_resources/listeners").and_then(Value::as_array);
        let resources = listeners.into_iter().flatten().map(|listener| {
            let mut resource = listener.clone();
            resource["@type"] = json!("type.googleapis.com/envoy.config.listener.v3.Listener");
            resource
        });
        json!({ "resources": resources.collect::<Vec<_>>() })
    }

    /// Everything else, with a reference to the file of the listeners.
    pub(super) fn without_listeners(&self, listeners: &Path) -> Value {
        let mut document = self.0.clone();
        document["static_resources"]["listeners"] = json!([]);
        document["dynamic_resources"]["lds_config"] = json!({
            "resource_api_version": "V3",
            "path_config_source": { "path": listeners },
        });
        document
    }
}

fn named<'a>(list: Option<&'a mut Value>, name: &str, kind: &str) -> Result<&'a mut Value> {
    let items = list.and_then(Value::as_array_mut).into_iter().flatten();
    let mut items = items.filter(|item| item["name"] == name);
    items.next().with_context(|| format!("there is no {kind} named {name}"))
}

fn free_port() -> Value {
    socket_address("127.0.0.1", 0)
}

fn socket_address(address: &str, port: u16) -> Value {
    json!({ "socket_address": { "address": address, "port_value": port } })
}
