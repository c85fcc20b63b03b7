//! Sets the engine's name to a hash of its sources, so that a store never mixes runs of different engines.

#[path = "build/engine.rs"]
mod engine;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/engine.rs");
    let name = match engine::sources(here, env!("CARGO_PKG_VERSION")) {
        Ok(folders) => {
            for folder in &folders {
                println!("cargo::rerun-if-changed={}", folder.display());
            }
            engine::hashed(&folders)
        }
        Err(missing) => {
            // Without the sources the engine's name cannot be computed. This build then shares no runs with other
            // builds.
            println!(
                "cargo::warning=the sources of `{missing}` are not next to lasthop-sweep: stores of this build are \
                 separate, and other builds repeat their runs"
            );
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            format!("built-{:x}-{:x}", now.as_nanos(), std::process::id())
        }
    };
    println!("cargo::rustc-env=LASTHOP_ENGINE={}+{name}", env!("CARGO_PKG_VERSION"));
}
