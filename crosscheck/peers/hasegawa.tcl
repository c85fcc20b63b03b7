# hasegawa's path with one SACK flow, as in `lasthop bench`, except for the link layer: ns-2 lacks such an ARQ, so a
# packet on the downlink is lost with the residual probability.

source [file join [file dirname [info script]] .. ns2 common.tcl]

Agent/TCP set packetSize_ 1000

begin {loss 0.001 duration 100}

foreach name {server bs client} {
    set $name [$ns node]
}
link $server $bs 10Mb 45ms 1000000
$ns simplex-link $bs $client 2Mb 1ms DropTail
$ns queue-limit $bs $client 51
$ns simplex-link $client $bs 384kb 1ms DropTail
$ns queue-limit $client $bs 1000000
lose $bs $client $param(loss)
set tcp [connect Sack1 $server $client 0]

$ns at $param(duration) {
    puts "data_packets [$tcp set ndatapack_]"
    exit 0
}
$ns run
