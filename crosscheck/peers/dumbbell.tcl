# Bulk SACK flows over a bottleneck with an access link on each side, as in dumbbell-N of `lasthop bench`.

source [file join [file dirname [info script]] .. ns2 common.tcl]

Agent/TCP set packetSize_ 1000

begin {flows 1 duration 10}

foreach name {senders a b receivers} {
    set $name [$ns node]
}
link $senders $a 1Gb 1ms 1000000
link $a $b 100Mb 10ms 300
link $b $receivers 1Gb 1ms 1000000
for {set flow 0} {$flow < $param(flows)} {incr flow} {
    connect Sack1 $senders $receivers [expr {0.001 * $flow}]
}

# Prints the number of data packets sent, including retransmissions.
proc count {} {
    global tcps
    set packets 0
    foreach tcp $tcps {
        incr packets [$tcp set ndatapack_]
    }
    puts "data_packets $packets"
    exit 0
}
$ns at $param(duration) count
$ns run
