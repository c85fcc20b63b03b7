# Code that all baseline scripts share. Usage of a script:
#
#     ns SCRIPT RUN [KEY VALUE]...
#
# RUN (from 0) selects the substream of random numbers. A KEY is one of the script's parameters, or CLASS.VARIABLE for a
# default of ns-2, like Agent/TCP.singledup_. The last line of the output has pairs of a name and a number.

# Scripts with wireless nodes set `wireless` first, because they need the headers of routing, ARP, link layer and MAC.
if {![info exists wireless]} {
    remove-all-packet-headers
    add-packet-header Flags IP RTP TCP
}

# Configures ns-2 as in Lasthop's papers: no timestamps, limited transmit or random numbers at the sender; no limit by
# window or initial threshold. Later settings by the script or the command line override these
# settings.
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 2
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set maxrto_ 60
Agent/TCP set rtxcur_init_ 1
Agent/TCP set overhead_ 0
Agent/TCP set maxburst_ 0
Agent/TCP set singledup_ 0
Agent/TCP set timestamps_ false
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCPSink set packetSize_ 40

# Sets up parameters (defaults, then command line), random numbers and the simulator.
proc begin {defaults} {
    global argv param ns defaultRNG
    array set param $defaults
    foreach {key value} [lrange $argv 1 end] {
        if {[regexp {^([A-Za-z0-9/]+)\.(\w+)$} $key -> class variable]} {
            $class set $variable $value
        } elseif {[info exists param($key)]} {
            set param($key) $value
        } else {
            puts stderr "unknown parameter $key; known: [lsort [array names param]], CLASS.VARIABLE"
            exit 1
        }
    }
    $defaultRNG seed 20261122
    for {set run 0} {$run < [lindex $argv 0]} {incr run} {
        $defaultRNG next-substream
    }
    set ns [new Simulator]
}

# Creates a link in both directions. `packets`: queue limit without the packet in transmission; ns-2 admits one fewer
# than its limit.
proc link {from to rate delay packets} {
    global ns
    $ns duplex-link $from $to $rate $delay DropTail
    $ns queue-limit $from $to [expr {$packets + 1}]
    $ns queue-limit $to $from [expr {$packets + 1}]
}

# Drops each packet at the end of the link with this probability.
proc lose {from to probability} {
    global ns
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $probability
    $ns link-lossmodel $model $from $to
}

# Creates a connection with sender Agent/TCP/KIND, which sends `packets` packets or unlimited data from time `start`.
proc connect {kind from to start {packets ""}} {
    global ns tcps sinks starts
    set tcp [new Agent/TCP/$kind]
    set sink [new [expr {$kind eq "Sack1" ? "Agent/TCPSink/Sack1" : "Agent/TCPSink"}]]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    lappend tcps $tcp
    lappend sinks $sink
    lappend starts $start
    if {$packets eq ""} {
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp
        $ns at $start "$ftp start"
    } else {
        $ns at $start "$tcp advanceby $packets"
    }
    return $tcp
}

# Returns the payload delivered in order, bytes. The sink counts whole packets, including the SYN.
proc delivered {tcp sink} {
    set payload [$tcp set packetSize_]
    set header [expr {[Agent/TCP set useHeaders_] ? [$tcp set tcpip_base_hdr_size_] : 0}]
    set bytes [expr {[$sink set bytes_] - [$tcp set tcpip_base_hdr_size_]}]
    return [expr {$bytes > 0 ? $bytes / ($payload + $header) * $payload : 0}]
}

# Prints the results of all connections until the current time (or `end`), and stops.
proc report {{end now}} {
    global ns tcps sinks starts
    if {$end eq "now"} {
        set end [$ns now]
    }
    set goodput 0
    set timeouts 0
    set cuts 0
    set again 0
    foreach tcp $tcps sink $sinks start $starts {
        set goodput [expr {$goodput + 8e-3 * [delivered $tcp $sink] / ($end - $start)}]
        incr timeouts [$tcp set nrexmit_]
        incr cuts [$tcp set ncwndcuts_]
        incr again [$tcp set nrexmitpack_]
    }
    puts "goodput_kbps $goodput timeouts $timeouts recoveries [expr {$cuts - $timeouts}] retransmissions $again"
    exit 0
}
