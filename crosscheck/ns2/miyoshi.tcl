# miyoshi, Table 1: terminals behind one base station, one connection each, several ACKs per segment.

source [file join [file dirname [info script]] common.tcl]

Agent/TCP set packetSize_ 100
Agent/TCP set window_ 20
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.1
Agent/TCP set maxrto_ 64
Agent/TCP set rtxcur_init_ 3

begin {kind Reno nodes 1 acks 1 loss 0.1 duration 1000}

set server [$ns node]
set bs [$ns node]
link $server $bs 410kb 3ms 50 ;# ns-2's default
for {set number 0} {$number < $param(nodes)} {incr number} {
    set node [$ns node]
    link $bs $node 300kb 1ms 50
    lose $bs $node $param(loss)
    lose $node $bs $param(loss)
    connect $param(kind) $server $node 0
    if {$param(acks) > 1} {
        set copies [new Classifier/Replicator]
        for {set copy 0} {$copy < $param(acks)} {incr copy} {
            $copies install $copy [$node entry]
        }
        [lindex $sinks end] target $copies
    }
}

$ns at $param(duration) report
$ns run
