//! Malformed traces, one-line scenarios and `--set` values.

use super::MalformedCase;

/// The two input texts are the text of the trace, and an empty text. Line 0 means the line of the scenario that names
/// the trace file.
#[rustfmt::skip]
pub(crate) const TRACES: &[MalformedCase] = &[
    ("1\n2\nthree\n4\n", "", 3, "three", "`three` is not a whole number", "whole milliseconds"),
    ("1\n2\n2.5\n4\n", "", 3, "2.5", "`2.5` is not a whole number", "whole milliseconds"),
    ("-1\n2\n", "", 1, "-1", "`-1` is not a whole number", "whole milliseconds"),
    ("1\n\n2\n", "", 2, "", "not a whole number", "whole milliseconds"),
    ("1\n5\n4\n", "", 3, "4", "4 ms comes after 5 ms", "not less than the line above"),
    ("0\n0\n", "", 2, "0", "the last time is 0 ms", "above 0"),
    ("1\n99999999999999999999\n", "", 2, "99999999999999999999", "not a whole number", "whole milliseconds"),
    ("1\n9999999999999999\n", "", 2, "9999999999999999", "too late", "whole milliseconds"),
    ("1 2 3\n", "", 1, "1 2 3", "`1 2 3` is not a whole number", "whole milliseconds"),
    ("", "", 0, "\"bad.down\"", "has no lines", "one time in whole milliseconds per line"),
    ("\n\n", "", 0, "\"bad.down\"", "has no lines", "one time in whole milliseconds per line"),
];

/// The two input texts are an empty text, and the one-line scenario.
#[rustfmt::skip]
pub(crate) const INLINE: &[MalformedCase] = &[
    ("", "rtt=20ms,queue=10packets", 1, "rtt=20ms,queue=10packets", "needs `rate`", "rate=10Mbit/s"),
    ("", "trace=a.down,rtt=20ms", 1, "trace=a.down,rtt=20ms", "needs `up`", "up_trace=FILE"),
    ("", "rate=10Mbit/s,rtt=20", 1, "20", "`20` has no unit", "20ms"),
    ("", "rate=10Mbit/s,rtt=fast", 1, "fast", "does not begin with a number", "20ms"),
    ("", "rate=10,rtt=20ms", 1, "10", "`10` has no unit", "2 Mbit/s"),
    ("", "rate=10Mbut/s,rtt=20ms", 1, "10Mbut/s", "`Mbut/s` is not a unit", "2 Mbit/s"),
    ("", "rate=0bit/s", 1, "0bit/s", "too small", "a rate from"),
    ("", "rate=10Mbit/s,loss=101%", 1, "101%", "too large: at most 1", "0.01 or \"1 %\""),
    ("", "rate=10Mbit/s,loss=-1", 1, "-1", "too small: at least 0", "0.01 or \"1 %\""),
    ("", "rate=10Mbit/s,loss=1%,ber=1e-5", 1, "ber", "both set the same value", "leave one of them out"),
    ("", "rate=10Mbit/s,rtt=20ms,rtt=30ms", 1, "rtt", "`rtt` is given twice", "leave one of them out"),
    ("", "rate=10Mbit/s,rtt=20ms,one_way_delay=1ms", 1, "one_way_delay", "the same value", "leave one"),
    ("", "rate=10Mbit/s,trace=x.down", 1, "trace", "the same value", "leave one"),
    ("", "rate=10Mbit/s,rtt", 1, "rtt", "`rtt` has no value", "key=value"),
    ("", "rate=10Mbit/s,,rtt=20ms", 1, "rate=10Mbit/s,,rtt=20ms", "has no value", "key=value"),
    ("", "rate=10Mbit/s,quue=5packets", 1, "quue", "`quue` is not a key", "did you mean `queue`"),
    ("", "rate=10Mbit/s,queue=5", 1, "5", "5 has no unit", "\"5 packets\""),
    ("", "rate=10Mbit/s,recovery=cubic", 1, "cubic", "no recovery is called `cubic`", "tahoe, reno"),
    ("", "rate=10Mbit/s,recvoery=reno", 1, "recvoery", "`recvoery` is not a key", "did you mean `recovery`"),
    ("", "rate=10Mbit/s,channel=two_stat", 1, "two_stat", "no channel is called `two_stat`", "did you mean `two_state`"),
    ("", "rate=10Mbit/s,channel={kind=\"iid\",los=1}", 1, "{kind=\"iid\",los=1}", "`iid` has no parameter `los`", "did you mean `loss`"),
    ("", "rate=10Mbit/s,trace2=gone.down", 1, "trace2", "not a key", "did you mean `trace`"),
    ("", "trace=gone.down,up=1Mbit/s", 1, "gone.down", "there is no such file", "Mahimahi"),
    ("", "=,=", 1, "=", "no key before `=`", "key=value"),
];

/// The two input texts are the key path of `--set`, and the value.
#[rustfmt::skip]
pub(crate) const SETS: &[MalformedCase] = &[
    ("duratoin", "1 s", 1, "duratoin", "`duratoin` is not a key", "did you mean `duration`"),
    ("duration", "1", 1, "1", "`1` has no unit", "such as \"45 ms\""),
    ("stagger", "", 1, "stagger", "`stagger` is not set", "stagger=VALUE"),
    ("sender", "allegro", 1, "allegro", "`allegro` is not a mechanism of a sender", "new_reno"),
    ("duration.x", "1", 1, "x", "`duration` has no keys below it", "duration=VALUE"),
    ("link.wirelss.down.rate", "1 Mbit/s", 1, "wirelss", "`link` has no `wirelss`", "did you mean `wireless`"),
    ("link.wireless.dwn.rate", "1 Mbit/s", 1, "dwn", "`link.wireless` has no `dwn`", "did you mean `down`"),
    ("link.wireless.down.channel.rate", "3e5", 1, "3e5", "too large: at most 1", "0.01 or \"1 %\""),
    ("link.wireless.down.channel.raet", "3e-5", 1, "link.wireless.down.channel.raet", "no parameter `raet`", "did you mean `rate`"),
    ("link.wireless.down.channel.rate.x", "3e-5", 1, "x", "has no keys below it", "VALUE"),
    ("link.wireless.down.channel", "bit_eror", 1, "bit_eror", "no channel is called `bit_eror`", "did you mean `bit_error`"),
    ("rate", "1 Mbit/s", 1, "rate", "`rate` could mean several keys", "link.wired.rate"),
    ("flow.bluk.segment", "1 KB", 1, "bluk", "`flow` has no `bluk`", "did you mean `bulk`"),
    ("flow.bulk.sender.recovery", "vegas", 1, "vegas", "no recovery is called `vegas`", "tahoe, reno"),
    ("recovery", "vegas", 1, "vegas", "no recovery is called `vegas`", "tahoe, reno"),
    ("sender.recvery", "reno", 1, "sender.recvery", "has no `recvery`", "did you mean `recovery`"),
    ("flow.bulk.receiver.ack_splitting.count", "3", 1, "flow.bulk.receiver.ack_splitting.count", "`once` has no parameter `count`", "copies, by_loss, split"),
    ("flow.bulk.sender.tick", "-1 ms", 1, "-1 ms", "negative", "a time from"),
    ("seed", "abc", 1, "abc", "does not begin with a number", "whole number"),
    ("link.wired.to", "server", 1, "server", "to itself", "another node"),
    ("flow.bulk.to", "clinet", 1, "clinet", "no link has a node `clinet`", "did you mean `client`"),
    ("route.bs.client", "server", 1, "server", "` loop: ", "shortest path"),
    ("flow.bulk", "5", 1, "5", "flow.bulk is a table, not a number", "[flow.bulk]"),
    ("link.wireless.down.trace", "x.down", 1, "x.down", "cannot read `x.down`", "Mahimahi"),
    ("", "1", 1, "=1", "`` is not a key", "full path"),
    ("...", "1", 1, "...", "`...` is not a key", "full path"),
];
