// The cases of `lasthop bench` in ns-3: bulk flows with SACK over a dumbbell, and over hasegawa's path without its ARQ.
//
//     peers CASE FLOWS DURATION_S
//
// Prints the number of data packets sent, including retransmissions. Every segment is acknowledged at once.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdlib>
#include <iostream>
#include <string>

using namespace ns3;

static uint64_t dataPackets = 0;

static void Sent(Ptr<const Packet> packet, const TcpHeader &, Ptr<const TcpSocketBase>) {
    dataPackets += packet->GetSize() > 0;
}

// Runs after the application has started, because its socket does not exist earlier.
static void Watch(Ptr<BulkSendApplication> application) {
    application->GetSocket()->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
}

// Creates a link with these rates and this queue limit in each direction.
static NetDeviceContainer Link(NodeContainer nodes, const char *down, const char *up, const char *delay,
                               const char *queue) {
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(down));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    NetDeviceContainer devices = link.Install(nodes);
    devices.Get(1)->SetAttribute("DataRate", StringValue(up));
    return devices;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        std::cerr << "usage: peers dumbbell|hasegawa FLOWS DURATION_S" << std::endl;
        return 2;
    }
    const std::string which = argv[1];
    const uint32_t flows = std::atoi(argv[2]);
    const double duration = std::atof(argv[3]);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));

    NodeContainer nodes;
    nodes.Create(which == "dumbbell" ? 4 : 3);
    InternetStackHelper().Install(nodes);
    std::vector<NetDeviceContainer> links;
    const auto pair = [&nodes](uint32_t n) { return NodeContainer(nodes.Get(n), nodes.Get(n + 1)); };
    if (which == "dumbbell") {
        links.push_back(Link(pair(0), "1Gbps", "1Gbps", "1ms", "1000000p"));
        links.push_back(Link(pair(1), "100Mbps", "100Mbps", "10ms", "300p"));
        links.push_back(Link(pair(2), "1Gbps", "1Gbps", "1ms", "1000000p"));
    } else {
        links.push_back(Link(pair(0), "10Mbps", "10Mbps", "45ms", "1000000p"));
        links.push_back(Link(pair(1), "2Mbps", "384kbps", "1ms", "50p"));
        Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(0.001);
        links.back().Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    for (const auto &devices : links) {
        last = addresses.Assign(devices);
        addresses.NewNetwork();
    }
    // Removes queue discs, so that only the devices' queues store packets.
    for (const auto &devices : links) {
        TrafficControlHelper().Uninstall(devices);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    for (uint32_t flow = 0; flow < flows; flow++) {
        const uint16_t port = 1000 + flow;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(nodes.Get(nodes.GetN() - 1));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), port));
        bulk.SetAttribute("SendSize", UintegerValue(1000));
        ApplicationContainer source = bulk.Install(nodes.Get(0));
        source.Start(MilliSeconds(flow));
        Simulator::Schedule(MilliSeconds(flow) + NanoSeconds(1), &Watch, DynamicCast<BulkSendApplication>(source.Get(0)));
    }
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    std::cout << "data_packets " << dataPackets << std::endl;
    Simulator::Destroy();
}
