# koga, chapter 3: twenty connections and five CBR sources behind a CBQ gateway.
#
# The parameter `load` has three values:
# tcp: no CBR sources; the link has 82 Mbit/s and one queue.
# large: the CBR sources send 30 Mbit/s in phase.
# multiple: each CBR source switches on and off separately.

source [file join [file dirname [info script]] common.tcl]

Agent/TCP set packetSize_ 500
Agent/TCP set useHeaders_ false ;# 500 bytes in all
Agent/TCP set window_ 131
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.1
Agent/TCP set minrto_ 1
Agent/TCP set maxrto_ 64
Agent/TCP set rtxcur_init_ 3
Agent/TCP set bugFix_ false ;# Reno: a second fast retransmit inside one window
Agent/TCP/Newreno set bugFix_ true
Agent/TCP/Sack1 set bugFix_ true

begin {kind Reno load tcp duration 20}

# Creates a CBQ class with share and priority, a limit of 200 packets, and a burst of 16 packets after a pause.
proc class {parent share priority} {
    set class [new CBQClass]
    set queue [new Queue/DropTail]
    $queue set limit_ 201
    $class install-queue $queue
    set decay [expr {pow(0.9375, 16)}]
    set idle [expr {500 * 8 / 100e6 * (1 / $share - 1) * (1 - $decay) / $decay}]
    $class setparams $parent true $share $idle $priority 1 0
    return $class
}

proc gateway {from to} {
    global ns
    Queue/CBQ set maxpkt_ 500
    $ns simplex-link $from $to 100Mb 10ms CBQ
    $ns simplex-link $to $from 100Mb 10ms DropTail
    $ns queue-limit $to $from 1000000
    set link [$ns link $from $to]
    [$link queue] algorithm formal
    set top [new CBQClass]
    $top setparams none 0 1.0 auto 8 2 0
    set cbr [class $top 0.3 1]
    set tcp [class $top 0.7 2]
    foreach one [list $top $cbr $tcp] {
        $link insert $one
    }
    $link bind $tcp 1
    $link bind $cbr 2
}

# Alternates between on and off times, which are exponentially distributed.
proc alternate {source} {
    global ns defaultRNG
    $source start
    set on [$defaultRNG exponential 1.2]
    set off [$defaultRNG exponential 0.8]
    $ns at [expr {[$ns now] + $on}] "$source stop"
    $ns at [expr {[$ns now] + $on + $off}] "alternate $source"
}

set n1 [$ns node]
set n2 [$ns node]
if {$param(load) eq "tcp"} {
    $ns simplex-link $n1 $n2 82Mb 10ms DropTail
    $ns queue-limit $n1 $n2 201
    $ns simplex-link $n2 $n1 100Mb 10ms DropTail
    $ns queue-limit $n2 $n1 1000000
} else {
    gateway $n1 $n2
    for {set number 0} {$number < 5} {incr number} {
        set node [$ns node]
        link $node $n1 6Mb 5ms 1000000
        set udp [new Agent/UDP]
        set null [new Agent/Null]
        $ns attach-agent $node $udp
        $ns attach-agent $n2 $null
        $ns connect $udp $null
        $udp set fid_ 2
        set cbr [new Application/Traffic/CBR]
        $cbr set packetSize_ 500
        $cbr set rate_ 6Mb
        $cbr attach-agent $udp
        if {$param(load) eq "large"} {
            $ns at 0 "$cbr start"
            $ns at 6 "$cbr stop"
            $ns at 14 "$cbr start"
        } else {
            $ns at 0 "alternate $cbr"
        }
    }
}
for {set number 0} {$number < 20} {incr number} {
    set node [$ns node]
    link $node $n1 100Mb [expr {3 + $number % 5}]ms 1000000
    set tcp [connect $param(kind) $node $n2 [$defaultRNG uniform 0 0.1]]
    $tcp set fid_ 1
}

$ns at $param(duration) report
$ns run
