# saad, Fig. 8: flows over a wired link to a base station, then over ns-2's 802.11 MAC at 2 Mbit/s to a mobile node. The
# paper names no MAC, so all values are ns-2's defaults. `rts` is the size above which a packet uses RTS and CTS.

set wireless true
source [file join [file dirname [info script]] common.tcl]

Agent/TCP set packetSize_ 1000
Agent/TCP set windowInit_ 1

begin {kind Reno flows 6 rts 3000 duration 150}

Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set RTSThreshold_ $param(rts)

$ns trace-all [open /dev/null w]
$ns node-config -addressType hierarchical
AddrParams set domain_num_ 2
AddrParams set cluster_num_ {1 1}
AddrParams set nodes_num_ {1 2}
set area [new Topography]
$area load_flatgrid 200 200
create-god 2

set server [$ns node 0.0.0]
$ns node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy -topoInstance $area \
    -wiredRouting ON -agentTrace OFF -routerTrace OFF -macTrace OFF -channel [new Channel/WirelessChannel]
set bs [$ns node 1.0.0]
$ns node-config -wiredRouting OFF
set mobile [$ns node 1.0.1]
$mobile base-station [AddrParams addr2id [$bs node-addr]]
foreach {node x} [list $bs 10 $mobile 50] {
    $node random-motion 0
    $node set X_ $x
    $node set Y_ 10
    $node set Z_ 0
}
link $server $bs 70Mb 45ms 1000000

set first [new RandomVariable/Uniform]
$first set max_ 0.5
for {set number 0} {$number < $param(flows)} {incr number} {
    connect $param(kind) $server $mobile [expr {1 + [$first value]}] ;# when DSDV has a route
}

$ns at [expr {1 + $param(duration)}] report
$ns run
