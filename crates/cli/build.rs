//! Passes the compiler's version and the commit to the program as environment variables of the build. Instruction
//! counts depend on the compiler, and results name the commit.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let target = env::var("TARGET").unwrap_or_default();
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    };
    // Makes cargo rerun this script if HEAD changes. A build with uncommitted changes names the last commit.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file]);
        if !path.is_empty() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rustc-env=LASTHOP_COMMIT={}", git(&["log", "-1", "--format=%h of %cs"]));
    println!("cargo::rustc-env=LASTHOP_COMPILER={} {target}", String::from_utf8_lossy(&said).trim());
}
