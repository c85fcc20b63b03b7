# huang, Fig. 1 (a): 1 MB over a wireless link with alternating good and bad states. `clock`: states change in real time
# and apply at the end of a transmission ("time"), or advance only during transmissions ("sent").

source [file join [file dirname [info script]] common.tcl]

Agent/TCP set window_ 20

begin {kind Sack1 good 0.1 bad 0.001 clock time delay 0.00001}

set server [$ns node]
set gateway [$ns node]
set receiver [$ns node]
link $server $gateway 10Mb 40ms 50
link $gateway $receiver 2Mb $param(delay) 50

# With "sent", durations of states are counted in bits at the link's rate.
set unit [expr {$param(clock) eq "time" ? "time" : "bit"}]
set scale [expr {$param(clock) eq "time" ? 1.0 : 2e6}]
foreach state {good bad} {
    set stay($state) [new RandomVariable/Exponential]
    $stay($state) set avg_ [expr {$scale * $param($state)}]
}
set channel [new ErrorModel/TwoState $stay(good) $stay(bad) $unit]
$ns link-lossmodel $channel $gateway $receiver

set tcp [connect $param(kind) $server $receiver 0 1000]

# The transfer ends when its last byte arrives, which is one ACK transit time before the sender gets the last ACK.
$tcp proc done {} {
    global ns param
    set ack [expr {8 * [Agent/TCPSink set packetSize_]}]
    report [expr {[$ns now] - ($param(delay) + $ack / 2e6 + 0.04 + $ack / 10e6)}]
}
$ns at 20000 report
$ns run
