//! The component as it is built: it needs nothing from a host, it is what `wit/` says, and it stays small.

use std::fs;

use anyhow::{Context as _, Result, bail};
use breakerbox_host::guests::COMPONENT_WASM;
use wit_component::{DecodedWasm, OutputToString, WitPrinter};
use wit_parser::{PackageId, Resolve, Stability, WorldId};

#[test]
fn the_component_imports_nothing() -> Result<()> {
    let (resolve, world) = decoded(&fs::read(COMPONENT_WASM)?)?;
    let imports: Vec<_> =
        resolve.worlds[world].imports.keys().map(|key| resolve.name_world_key(key)).collect();
    assert_eq!(imports, [""; 0]);
    Ok(())
}

#[test]
fn the_component_is_what_wit_says() -> Result<()> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit"))?;
    let world = resolve.select_world(&[package], None)?;
    let expected = text(resolve, world)?;
    let (resolve, world) = decoded(&fs::read(COMPONENT_WASM)?)?;
    let found = text(resolve, world)?;

    let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert_eq!(differs, None, "wit/ and the component differ; this line first");
    assert_eq!(expected, found);
    Ok(())
}

fn decoded(component: &[u8]) -> Result<(Resolve, WorldId)> {
    match wit_component::decode(component)? {
        DecodedWasm::Component(resolve, world) => Ok((resolve, world)),
        DecodedWasm::WitPackage(..) => bail!("a WIT package instead of a component"),
    }
}

/// The world's exports, and their package as WIT without what a component does not keep: comments, `@since`, worlds.
fn text(mut resolve: Resolve, world: WorldId) -> Result<String> {
    let exports: Vec<_> =
        resolve.worlds[world].exports.keys().map(|key| resolve.name_world_key(key)).collect();
    let own = |id: &PackageId| resolve.packages[*id].name.namespace == "breakerbox";
    let package = resolve.packages.iter().map(|(id, _)| id).find(own).context("no package of ours")?;
    resolve.packages[package].worlds.clear();
    for (_, interface) in &mut resolve.interfaces {
        interface.stability = Stability::Unknown;
        for function in interface.functions.values_mut() {
            function.stability = Stability::Unknown;
        }
    }
    for (_, item) in &mut resolve.types {
        item.stability = Stability::Unknown;
    }
    let mut printer = WitPrinter::new(OutputToString::default());
    printer.emit_docs(false);
    printer.print(&resolve, package, &[])?;
    Ok(format!("exports {exports:?}\n{}", String::from(printer.output)))
}
