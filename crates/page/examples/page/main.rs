//! Puts the page together: `page ENGINE.wasm PAGE.html` (`make page`).

mod assemble;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, page] = &arguments[..] else {
        eprintln!("usage: page ENGINE.wasm PAGE.html");
        return ExitCode::FAILURE;
    };
    let made = std::fs::read(engine).and_then(|engine| {
        let text = assemble::page(&assemble::packed(&engine)?);
        std::fs::write(page, &text).map(|()| text.len())
    });
    match made {
        Ok(length) => {
            println!("{page}: {length} bytes");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("page: {error}");
            ExitCode::FAILURE
        }
    }
}
