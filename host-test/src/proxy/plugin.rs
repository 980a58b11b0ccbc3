use proxy_wasm_host::abi::v0_2_1::PluginConfig;

/// A plugin: a name and a configuration for a module.
#[derive(Clone, Debug)]
pub struct Plugin {
    pub(super) name: String,
    configuration: Vec<u8>,
}

impl Plugin {
    /// A plugin named `plugin` with this configuration.
    pub fn new(configuration: impl Into<Vec<u8>>) -> Self {
        Self { name: "plugin".to_owned(), configuration: configuration.into() }
    }

    /// The same plugin under another name, which is its root ID as well. Plugins of one worker need names of their own.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    pub(super) fn config(&self) -> PluginConfig {
        PluginConfig::new()
            .with_name(self.name.as_bytes())
            .with_root_id(self.name.as_bytes())
            .with_configuration(self.configuration.clone())
    }
}
