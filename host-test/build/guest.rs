use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wit_component::ComponentEncoder;

/// A package of the workspace that is built for wasm.
pub(crate) struct Guest {
    package: &'static str,
    features: &'static str,
    target: &'static str,
    is_component: bool,
    /// How its release profile differs from the workspace's, as cargo's environment variables.
    profile: &'static [(&'static str, &'static str)],
    /// The environment variable through which the crate that is being built learns the path of the wasm file.
    variable: &'static str,
}

impl Guest {
    pub(crate) const fn filter(
        package: &'static str,
        features: &'static str,
        variable: &'static str,
    ) -> Self {
        let target = "wasm32-wasip1";
        Self { package, features, target, is_component: false, profile: &[], variable }
    }

    pub(crate) const fn component(package: &'static str, variable: &'static str) -> Self {
        Self {
            package,
            features: "",
            target: "wasm32-unknown-unknown",
            is_component: true,
            // Behind a host's call opt-level 3 gains nothing that can be measured, and where nothing traps nobody
            // misses names.
            profile: &[("CARGO_PROFILE_RELEASE_OPT_LEVEL", "s"), ("CARGO_PROFILE_RELEASE_STRIP", "symbols")],
            variable,
        }
    }

    /// Builds it for release and returns the path of its wasm file.
    pub(crate) fn build(&self) -> PathBuf {
        let root = workspace_root();
        for manifest in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "host-test/build"] {
            rerun_if_changed(&root.join(manifest));
        }
        let wasm = self.compile(&root);
        rerun_if_sources_changed(&wasm.with_extension("d"));
        // A copy of our own: a build in another profile must not change a filter that is being tested.
        let copy = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"))
            .join(self.variable)
            .with_extension("wasm");
        fs::copy(&wasm, &copy).unwrap_or_else(|error| panic!("cannot copy {}: {error}", wasm.display()));
        if self.is_component {
            wrap(&copy);
        }
        println!("cargo:rustc-env={}={}", self.variable, copy.display());
        copy
    }

    fn compile(&self, root: &Path) -> PathBuf {
        let build_dir = build_dir();
        // A variant of a guest must not take the place of the one that people use.
        let target_dir = build_dir.join(self.features);
        let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
        for (key, _) in env::vars_os().filter(|(key, _)| is_of_the_host_build(key)) {
            cargo.env_remove(key);
        }
        let status = cargo
            .current_dir(root)
            .env("CARGO_TARGET_DIR", &target_dir)
            .env("CARGO_BUILD_BUILD_DIR", &build_dir)
            .envs(self.profile.iter().copied())
            // Guests are plain libraries in the workspace, because a cdylib with wasm exports does not link natively.
            .args(["rustc", "--release", "--lib", "--crate-type", "cdylib"])
            .args(["--package", self.package, "--features", self.features, "--target", self.target])
            .status()
            .unwrap_or_else(|error| panic!("cannot run cargo for {}: {error}", self.package));
        assert!(
            status.success(),
            "{} does not build for {}: see above; if the target is missing, run `rustup toolchain install`",
            self.package,
            self.target
        );
        let name = self.package.replace('-', "_");
        target_dir.join(self.target).join("release").join(name).with_extension("wasm")
    }
}

fn workspace_root() -> PathBuf {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    manifest.parent().expect("a crate that builds guests lies in the workspace").to_owned()
}

/// A target directory of their own: the outer cargo holds the lock of its one until the build script ends.
pub(crate) fn build_dir() -> PathBuf {
    workspace_root().join("target/wasm-guests")
}

/// Makes a component of the module, as the WIT that wit-bindgen put into it says.
fn wrap(module: &Path) {
    let core = fs::read(module).unwrap_or_else(|error| panic!("cannot read {}: {error}", module.display()));
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&core)
        .and_then(|encoder| encoder.encode())
        .unwrap_or_else(|error| panic!("{} makes no component: {error:?}", module.display()));
    fs::write(module, component).unwrap_or_else(|error| panic!("cannot write {}: {error}", module.display()));
}

/// Flags, wrappers and profiles of the host's build must not reach the wasm one.
fn is_of_the_host_build(key: &OsStr) -> bool {
    const NAMES: [&str; 6] = [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTFLAGS",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CLIPPY_ARGS",
    ];
    const PREFIXES: [&str; 5] =
        ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "CARGO_FEATURE_", "CARGO_CFG_"];
    key.to_str().is_some_and(|key| {
        NAMES.contains(&key)
            || PREFIXES.iter().any(|prefix| key.starts_with(prefix)) && key != "CARGO_BUILD_JOBS"
    })
}

/// Reads the sources from the dependency file, in make's format, that cargo writes beside an artifact.
fn rerun_if_sources_changed(dependencies: &Path) {
    let text = fs::read_to_string(dependencies)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", dependencies.display()));
    let (_, sources) = text.split_once(": ").unwrap_or_default();
    // A space in a path is written as `\ `; no path holds a NUL, so it can stand for one meanwhile.
    for source in sources.trim_end().replace("\\ ", "\0").split(' ').filter(|source| !source.is_empty()) {
        let source = PathBuf::from(source.replace('\0', " "));
        if source.file_name() == Some(OsStr::new("lib.rs"))
            && let Some(package) = source.parent().and_then(Path::parent)
        {
            rerun_if_changed(&package.join("Cargo.toml"));
        }
        rerun_if_changed(&source);
    }
}

fn rerun_if_changed(path: &Path) {
    println!("cargo:rerun-if-changed={}", path.display());
}
