# hasegawa, Fig. 6: one SACK flow over a wired and a wireless link. ns-2 has no ARQ: a packet on the downlink is lost
# with the residual probability after ARQ.

source [file join [file dirname [info script]] common.tcl]

begin {kind Sack1 loss 0.01 duration 1000}

set server [$ns node]
set bs [$ns node]
set client [$ns node]
link $server $bs 10Mb 45ms 1000000
$ns simplex-link $bs $client 2Mb 1ms DropTail
$ns queue-limit $bs $client 51
$ns simplex-link $client $bs 384kb 1ms DropTail
$ns queue-limit $client $bs 1000000
lose $bs $client $param(loss)
connect $param(kind) $server $client 0

$ns at $param(duration) report
$ns run
