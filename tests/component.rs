//! The component as it is built: it needs nothing from a host, it is what `wit/` says, and it stays small.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use breakerbox_host::guests::COMPONENT_WASM;
use wit_component::{ComponentEncoder, DecodedWasm, OutputToString, StringEncoding, WitPrinter};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, PackageId, Resolve, WorldId};

/// A tenth above what was reached.
const MOST_BYTES: usize = 125_000;

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
    let (expected, found) = (text(&documented()?)?, text(&fs::read(COMPONENT_WASM)?)?);
    let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert_eq!(differs, None, "wit/ and the component differ; this line first");
    assert_eq!(expected, found);
    Ok(())
}

#[test]
fn the_component_stays_below_its_ceiling() -> Result<()> {
    let bytes = fs::read(COMPONENT_WASM)?.len();
    ensure!(bytes <= MOST_BYTES, "{bytes} bytes are more than {MOST_BYTES}: worth it?");
    Ok(())
}

/// A component of functions that do nothing, with the world of `wit/`.
fn documented() -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit"))?;
    let world = resolve.select_world(&[package], None)?;
    let abi = ManglingAndAbi::Legacy(LiftLowerAbi::Sync);
    let mut module = wit_component::dummy_module(&resolve, world, abi);
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().module(&module)?.encode()
}

fn decoded(component: &[u8]) -> Result<(Resolve, WorldId)> {
    match wit_component::decode(component)? {
        DecodedWasm::Component(resolve, world) => Ok((resolve, world)),
        DecodedWasm::WitPackage(..) => anyhow::bail!("a WIT package instead of a component"),
    }
}

/// The WIT of all packages that a component speaks of.
fn text(component: &[u8]) -> Result<String> {
    let (resolve, world) = decoded(component)?;
    let own = resolve.worlds[world].package.context("a world without a package")?;
    let others: Vec<PackageId> = resolve.packages.iter().map(|(id, _)| id).filter(|&id| id != own).collect();
    let mut printer = WitPrinter::new(OutputToString::default());
    printer.print(&resolve, own, &others)?;
    Ok(printer.output.into())
}
