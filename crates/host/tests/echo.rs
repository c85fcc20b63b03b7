//! Runs the example `echo` as a test.

#[path = "../examples/echo.rs"]
mod echo;

#[test]
fn every_byte_comes_back() {
    echo::main().expect("the example succeeds");
    let text: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    assert_eq!(echo::answer_to(&text).expect("the echo succeeds"), text);
}
