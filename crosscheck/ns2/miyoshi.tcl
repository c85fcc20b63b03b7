# miyoshi, Table 1: terminals behind one base station, a connection to each, one ACK per segment.

source [file join [file dirname [info script]] common.tcl]

Agent/TCP set packetSize_ 100
Agent/TCP set window_ 20
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.1
Agent/TCP set maxrto_ 64
Agent/TCP set rtxcur_init_ 3
Agent/TCP set bugFix_ false ;# a second fast retransmit inside one window

begin {kind Reno nodes 1 loss 0.1 duration 1000}

set server [$ns node]
set bs [$ns node]
link $server $bs 410kb 3ms 1000000 ;# 50 KB hold five windows of 20 packets
for {set number 0} {$number < $param(nodes)} {incr number} {
    set node [$ns node]
    link $bs $node 300kb 1ms 1000000
    lose $bs $node $param(loss)
    lose $node $bs $param(loss)
    connect $param(kind) $server $node 0
}

$ns at $param(duration) report
$ns run
