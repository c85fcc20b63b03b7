//! Builds the page. `page ENGINE.wasm PAGE.html` (`make page`) inserts a new engine. `page PAGE.html` keeps the engine
//! that the page already contains.

mod assemble;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let made = match &arguments[..] {
        [page] => {
            std::fs::read_to_string(page).and_then(|old| Ok((page, assemble::packed_in(&old)?.to_owned())))
        }
        [engine, page] => std::fs::read(engine).and_then(|engine| Ok((page, assemble::packed(&engine)?))),
        _ => {
            eprintln!("usage: page [ENGINE.wasm] PAGE.html");
            return ExitCode::FAILURE;
        }
    };
    let made = made.and_then(|(page, engine)| {
        let text = assemble::page(&engine);
        std::fs::write(page, &text).map(|()| (page, text.len()))
    });
    match made {
        Ok((page, length)) => {
            println!("{page}: {length} bytes");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("page: {error}");
            ExitCode::FAILURE
        }
    }
}
