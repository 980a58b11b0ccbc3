use std::fs;
use std::path::Path;

use wasm_encoder::{ExportSection, Module, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

/// Takes exports off a module, and nothing else: functions keep their numbers, and with them their names.
pub(crate) fn remove(path: &Path, names: &[&str]) {
    let module = fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let without =
        without(&module, names).unwrap_or_else(|error| panic!("{} is no module: {error}", path.display()));
    fs::write(path, without).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

fn without(module: &[u8], names: &[&str]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut without = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::ExportSection(exports) = &payload {
            let mut kept = ExportSection::new();
            for export in exports.clone() {
                let export = export?;
                if !names.contains(&export.name) {
                    kept.export(export.name, export.kind.into(), export.index);
                }
            }
            without.section(&kept);
        } else if let Some((id, range)) = payload.as_section() {
            let at = |position: u64| usize::try_from(position).expect("it was read into memory");
            without.section(&RawSection { id, data: &module[at(range.start)..at(range.end)] });
        }
    }
    Ok(without.finish())
}
