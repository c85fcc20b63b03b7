//! The shipped traces equal the output of `lasthop fading`, byte for byte.

mod common;

use common::call;

#[test]
fn the_shipped_traces_are_what_the_command_prints() {
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut compared = 0;
    for name in ["umts-fading", "lte-fading"] {
        let text = std::fs::read_to_string(format!("{scenarios}/{name}.toml")).unwrap();
        // Comments in the scenario file quote the commands that generated the traces: `lasthop fading … (down)`.
        for line in text.lines().filter(|line| line.contains("lasthop fading ")) {
            let (command, side) = line.trim_start_matches(['#', ' ']).rsplit_once('(').unwrap();
            let arguments = split(command.trim().strip_prefix("lasthop ").unwrap());
            let output = call(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            let side = side.trim_end_matches(')');
            let shipped = std::fs::read(format!("{scenarios}/traces/{name}.{side}")).unwrap();
            assert_eq!(output.status.code(), Some(0));
            assert!(output.stdout == shipped, "{name}.{side} is not what `{command}` prints");
            compared += 1;
        }
    }
    assert_eq!(compared, 4);
}

fn split(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    parts
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(String::from).collect::<Vec<_>>(),
            _ => vec![part.to_string()],
        })
        .collect()
}
