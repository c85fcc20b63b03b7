/*
 * The agent's data path: rewrites the windows of this host's connections on tc egress.
 *
 * User space writes requests into `wishes` and heartbeats into `heart`. If the last heartbeat is older than 200 ms, no
 * packet is rewritten: the kernel's own windows are advertised, even if the daemon hangs or has ended.
 *
 * Invariants for any request: a window is never larger than the kernel's own and never smaller than two segments. The
 * advertised right edge, stored for each connection, never moves left. Only connections of this host's own sockets
 * with an observed handshake are changed.
 *
 * `events` reports SYNs and ends of connections. A summary reports other packets, at most once a millisecond. User
 * space does not see the packets themselves.
 *
 * Built by `make bpf` with Debian's clang (14.0), libbpf-dev and linux-libc-dev.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;

#define INLINE static inline __attribute__((always_inline))

/* Both ends of a connection in network byte order; IPv4 addresses are mapped into IPv6 (RFC 4291 section 2.5.5.2). */
struct key {
	u8 own[16], peer[16];
	u16 own_port, peer_port;
};

struct flow {
	/* Advertised right edge: first byte that the peer may not send. */
	u32 edge;
	/* Highest acknowledgement sent. */
	u32 acked;
	/* Kernel's own window in the last packet, bytes. */
	u32 kernel;
	/* Payload of a full segment, bytes. */
	u32 segment;
	/* Flags of the enum below, and the shift of windows. */
	u32 known, shift;
	/* Number of pure ACKs, and the window in the last one, bytes. */
	u32 acks, window;
	/* Window and sequence number of this host's SYN. */
	u32 syn_window, syn;
	/* Times of the last events for outgoing and incoming packets, ns. */
	u64 told_out, told_in;
	/* Last time stamp sent; last echo from the peer, and the time of this echo's first arrival. */
	u32 stamp, echo;
	u64 echoed;
	/* Payload received since the last event, bytes; sequence number and time of the last segment received. */
	u32 bytes, seq;
	u64 seq_at;
};
enum { KNOWN = 1, SCALES = 2, STAMPS = 4 };

/* Request of user space. */
struct wish {
	/* Largest window, bytes. */
	u64 window;
	/* Number of ACKs per kernel ACK (1: unchanged), and whether they are copies. */
	u32 count, is_copies;
};

/* Packet event for user space. All fields except the key have host byte order. */
struct event {
	/* Time of the last packet and first arrival of its echo, CLOCK_MONOTONIC, ns. */
	u64 at, echoed;
	struct key key;
	/* Fields of the last packet, except `length`: payload of all packets since the last event, bytes. */
	u32 seq, ack, length, stamp, echo;
	u16 window;
	u8 flags, is_out;
	/* Options of a SYN. For other packets, `known` can only have STAMPS. */
	u16 mss;
	u8 shift, known;
};
/* Ring buffer for about 13,000 events: 1 s of a dozen fast connections. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct key);
	__type(value, struct flow);
	__uint(max_entries, 16384);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct key);
	__type(value, struct wish);
	__uint(max_entries, 16384);
} wishes SEC(".maps");

/* Time of the last heartbeat, CLOCK_MONOTONIC, ns. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, u64);
	__uint(max_entries, 1);
} heart SEC(".maps");

/* Order as in lasthop-agent's `program`. */
struct counts {
	u64 decided, rewritten, added, left_alone, missed, errors, seen;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct counts);
	__uint(max_entries, 1);
} counters SEC(".maps");

/* Minimum interval of events of a connection and direction, ns. */
#define EVERY 1000000ull
#define SILENCE 200000000ull
#define FLOOR 2
#define DEFAULT_MSS 536
#define TIMESTAMP_BYTES 12
/* Same value as in lasthop-agent's `program`. */
#define MOST_PIECES 16
/* tc_index of processed packets. */
#define OURS 0x6c68

enum { FIN = 1, SYN = 2, RST = 4, PUSH = 8, ACK = 16 };

/* A TCP header without options. */
struct tcp {
	u16 source, destination;
	u32 seq, ack;
	u8 offset, flags;
	u16 window, check, urgent;
};

/* Connection, TCP header and bounds of a packet. */
struct cut {
	struct key key;
	struct tcp tcp;
	/* Offsets of the TCP header, of the payload, and of its end without padding. */
	u32 at, data, end;
};

/* Parses a packet; returns false if it is not TCP. */
INLINE int find(struct __sk_buff *packet, u32 l3, int is_out, struct cut *cut)
{
	struct key *key = &cut->key;
	struct tcp *tcp = &cut->tcp;
	u8 *source = is_out ? key->own : key->peer, *destination = is_out ? key->peer : key->own;
	u32 at, end;

	__builtin_memset(key, 0, sizeof(*key));
	if (packet->protocol == bpf_htons(ETH_P_IP)) {
		u8 ip[20];

		if (bpf_skb_load_bytes(packet, l3, ip, sizeof(ip)) < 0)
			return 0;
		/* TCP, not fragmented. */
		if (ip[9] != IPPROTO_TCP || (ip[6] & 0x3f) || ip[7])
			return 0;
		source[10] = source[11] = destination[10] = destination[11] = 0xff;
		__builtin_memcpy(source + 12, ip + 12, 4);
		__builtin_memcpy(destination + 12, ip + 16, 4);
		at = l3 + (ip[0] & 15) * 4;
		end = (u32)ip[2] << 8 | ip[3];
	} else if (packet->protocol == bpf_htons(ETH_P_IPV6)) {
		u8 ip[40];

		if (bpf_skb_load_bytes(packet, l3, ip, sizeof(ip)) < 0)
			return 0;
		/* Packets with extension headers are not changed. */
		if (ip[6] != IPPROTO_TCP)
			return 0;
		__builtin_memcpy(source, ip + 8, 16);
		__builtin_memcpy(destination, ip + 24, 16);
		at = l3 + 40;
		end = (u32)ip[4] << 8 | ip[5];
		end += end ? 40 : 0;
	} else {
		return 0;
	}
	if (bpf_skb_load_bytes(packet, at, tcp, sizeof(*tcp)) < 0)
		return 0;
	/* Packets above 64 KB have length 0 in the header. */
	cut->end = end ? l3 + end : packet->len;
	cut->at = at;
	cut->data = at + (tcp->offset >> 4) * 4;
	key->own_port = is_out ? tcp->source : tcp->destination;
	key->peer_port = is_out ? tcp->destination : tcp->source;
	return 1;
}

/* Options of a SYN. */
struct offer {
	u32 mss, shift, known;
};

/* Maximum number of options parsed; the options of a SYN have at most 40 bytes. */
#define OPTIONS 12

INLINE void read_options(struct __sk_buff *packet, u32 at, u32 length, struct offer *offer)
{
	u32 end = at + length;
	int n;

	offer->mss = DEFAULT_MSS;
	offer->shift = 0;
	offer->known = 0;
	at += 20;
	for (n = 0; n < OPTIONS; n++) {
		u8 option[4] = { 0, 0, 0, 0 };

		if (at >= end || bpf_skb_load_bytes(packet, at, option, 1) < 0 || option[0] == 0)
			return;
		if (option[0] == 1) {
			at++;
			continue;
		}
		if (at + 2 > end || bpf_skb_load_bytes(packet, at, option, 2) < 0 || option[1] < 2 || at + option[1] > end)
			return;
		if (option[0] == 2 && option[1] == 4) {
			if (bpf_skb_load_bytes(packet, at, option, 4) < 0)
				return;
			offer->mss = (u32)option[2] << 8 | option[3];
		} else if (option[0] == 3 && option[1] == 3) {
			if (bpf_skb_load_bytes(packet, at, option, 3) < 0)
				return;
			/* RFC 7323 section 2.3 */
			offer->shift = option[2] > 14 ? 14 : option[2];
			offer->known |= SCALES;
		} else if (option[0] == 8 && option[1] == 10) {
			offer->known |= STAMPS;
		}
		at += option[1];
	}
}

INLINE u32 segment_of(u32 mss, u32 known)
{
	u32 taken = known & STAMPS ? TIMESTAMP_BYTES : 0;

	return mss > taken ? mss - taken : 1;
}

/* Reads time stamps in the layout of RFC 7323 appendix A: value and echo. Returns false without time stamps. */
INLINE int read_stamps(struct __sk_buff *packet, const struct cut *cut, u32 stamps[2])
{
	u32 words[3];

	if (cut->tcp.offset < 8 << 4 || bpf_skb_load_bytes(packet, cut->at + 20, words, sizeof(words)) < 0)
		return 0;
	stamps[0] = bpf_ntohl(words[1]);
	stamps[1] = bpf_ntohl(words[2]);
	return words[0] == bpf_htonl(0x0101080a);
}

/*
 * Sends an event to user space. `how` sets whether user space wakes up, which is the most expensive part. Negative if
 * the ring buffer is full.
 */
INLINE long tell(const struct cut *cut, struct event *event, u64 how)
{
	event->key = cut->key;
	event->seq = bpf_ntohl(cut->tcp.seq);
	event->ack = bpf_ntohl(cut->tcp.ack);
	event->flags = cut->tcp.flags;
	return bpf_ringbuf_output(&events, event, sizeof(*event), how);
}

/* Sends an event of a packet that opens or ends a connection, and wakes up user space. */
INLINE void tell_at_once(struct __sk_buff *packet, const struct cut *cut, u32 length, u32 is_out)
{
	struct event event;
	struct offer offer;

	__builtin_memset(&event, 0, sizeof(event));
	event.at = event.echoed = bpf_ktime_get_ns();
	event.length = length;
	event.window = bpf_ntohs(cut->tcp.window);
	event.is_out = is_out;
	if (cut->tcp.flags & SYN) {
		read_options(packet, cut->at, cut->data - cut->at, &offer);
		event.mss = offer.mss;
		event.shift = offer.shift;
		event.known = offer.known;
	}
	tell(cut, &event, BPF_RB_FORCE_WAKEUP);
}

/* Handles an outgoing packet with this window. Sends at most one event, for the first packet with a time stamp. */
INLINE void note_leaving(struct __sk_buff *packet, struct flow *flow, const struct cut *cut, u32 window)
{
	struct event event;
	u32 stamps[2];
	u64 now = bpf_ktime_get_ns();
	int has_stamps = read_stamps(packet, cut, stamps);

	if (has_stamps && stamps[0] == flow->stamp)
		return;
	if (has_stamps)
		flow->stamp = stamps[0];
	if (now - flow->told_out < EVERY)
		return;
	__builtin_memset(&event, 0, sizeof(event));
	event.at = event.echoed = now;
	event.window = window;
	event.is_out = 1;
	if (has_stamps) {
		event.stamp = stamps[0];
		event.echo = stamps[1];
		event.known = STAMPS;
	}
	if (!tell(cut, &event, BPF_RB_NO_WAKEUP))
		flow->told_out = now;
}

INLINE void note_arriving(struct __sk_buff *packet, struct flow *flow, const struct cut *cut)
{
	struct event event;
	u32 stamps[2], seq = bpf_ntohl(cut->tcp.seq);
	u64 now = bpf_ktime_get_ns();
	int has_stamps;

	/* The same packet passes again, on the device above (a bridge, a bond, a VLAN). */
	if (seq == flow->seq && now - flow->seq_at < EVERY)
		return;
	flow->seq = seq;
	flow->seq_at = now;
	flow->bytes += cut->end - cut->data;
	has_stamps = read_stamps(packet, cut, stamps);
	if (has_stamps && stamps[1] != flow->echo) {
		flow->echo = stamps[1];
		flow->echoed = now;
	}
	if (now - flow->told_in < EVERY)
		return;
	__builtin_memset(&event, 0, sizeof(event));
	event.at = now;
	event.length = flow->bytes;
	if (has_stamps) {
		event.stamp = stamps[0];
		event.echo = stamps[1];
		event.echoed = flow->echoed;
		event.known = STAMPS;
	}
	if (!tell(cut, &event, BPF_RB_NO_WAKEUP)) {
		flow->told_in = now;
		flow->bytes = 0;
	}
}

/*
 * Opens a connection at this host's SYN. A SYN-ACK has only options that the peer's SYN offered, so it shows the
 * options of both (RFC 7323 sections 2.2 and 3.2).
 */
INLINE void begin(struct __sk_buff *packet, const struct cut *cut)
{
	const struct tcp *tcp = &cut->tcp;
	struct offer offer;
	struct flow flow;

	read_options(packet, cut->at, cut->data - cut->at, &offer);
	__builtin_memset(&flow, 0, sizeof(flow));
	flow.known = offer.known;
	flow.shift = offer.shift;
	flow.segment = offer.mss;
	flow.syn_window = bpf_ntohs(tcp->window);
	flow.syn = bpf_ntohl(tcp->seq);
	if (tcp->flags & ACK) {
		flow.acked = bpf_ntohl(tcp->ack);
		/* The window of a SYN is not scaled. */
		flow.edge = flow.acked + flow.syn_window;
		flow.known |= KNOWN;
		flow.segment = segment_of(offer.mss, offer.known);
	}
	bpf_map_update_elem(&flows, &cut->key, &flow, 0);
}

/* Completes a connection at the peer's SYN-ACK. */
INLINE void answered(struct __sk_buff *packet, struct flow *flow, const struct cut *cut)
{
	const struct tcp *tcp = &cut->tcp;
	struct offer offer;

	/* Data in the SYN may be acknowledged, too (RFC 7413). */
	if (flow->known & KNOWN || bpf_ntohl(tcp->ack) - flow->syn - 1 > 65535)
		return;
	read_options(packet, cut->at, cut->data - cut->at, &offer);
	flow->segment = segment_of(flow->segment, flow->known & offer.known);
	/* Scaling needs the option at both ends (RFC 7323 section 2.2). */
	if (!(flow->known & offer.known & SCALES))
		flow->shift = 0;
	flow->acked = bpf_ntohl(tcp->seq) + 1;
	flow->edge = flow->acked + flow->syn_window;
	flow->known |= KNOWN;
}

/* Acknowledgement and window in a header. */
struct said {
	u32 ack;
	u16 window;
};

/* Replaces the window in a packet. Negative on failure. */
INLINE long put_window(struct __sk_buff *packet, u32 at, struct said *said, u16 window)
{
	u16 from = bpf_htons(said->window), to = bpf_htons(window);
	long failed = bpf_l4_csum_replace(packet, at + 16, from, to, 2);

	said->window = window;
	return failed | bpf_skb_store_bytes(packet, at + 14, &to, 2, 0);
}

/* Replaces acknowledgement and window. Branch-free: the verifier follows every path through a loop. */
INLINE long put(struct __sk_buff *packet, u32 at, struct said *said, u32 ack, u16 window)
{
	u32 from = bpf_htonl(said->ack), to = bpf_htonl(ack);
	long failed = put_window(packet, at, said, window);

	failed |= bpf_l4_csum_replace(packet, at + 16, from, to, 4);
	said->ack = ack;
	return failed | bpf_skb_store_bytes(packet, at + 8, &to, 4, 0);
}

/* Window field: rounded up, so that the edge does not move left. */
INLINE u16 units_of(u32 bytes, u32 shift)
{
	u32 units = (bytes + (1u << shift) - 1) >> shift;

	return units > 65535 ? 65535 : units;
}

INLINE int leaves(struct __sk_buff *packet, u32 l3)
{
	struct cut cut;
	struct flow *flow;
	struct wish *wish;
	struct counts *counts;
	u64 *alive;
	struct said said;
	u32 zero = 0, at, ack, shift, told, wanted, bytes, advance, is_pure, n, before;
	u16 window;

	/* Forwarded packets have no socket. */
	if (packet->tc_index == OURS || !packet->sk)
		return TC_ACT_UNSPEC;
	if (!find(packet, l3, 1, &cut))
		return TC_ACT_UNSPEC;
	counts = bpf_map_lookup_elem(&counters, &zero);
	if (!counts)
		return TC_ACT_UNSPEC;
	/* This mark skips the packet on another device below (of a bridge, a VLAN). */
	packet->tc_index = OURS;
	counts->seen++;
	if (cut.tcp.flags & (SYN | FIN | RST))
		tell_at_once(packet, &cut, 0, 1);
	if (cut.tcp.flags & SYN) {
		begin(packet, &cut);
		return TC_ACT_UNSPEC;
	}
	if (!(cut.tcp.flags & ACK) || (cut.tcp.flags & RST))
		return TC_ACT_UNSPEC;
	flow = bpf_map_lookup_elem(&flows, &cut.key);
	if (!flow || !(flow->known & KNOWN)) {
		counts->left_alone++;
		return TC_ACT_UNSPEC;
	}
	at = cut.at;
	is_pure = cut.end == cut.data && !(cut.tcp.flags & FIN);
	said.ack = ack = bpf_ntohl(cut.tcp.ack);
	said.window = bpf_ntohs(cut.tcp.window);
	shift = flow->shift & 15;
	bytes = flow->kernel = (u32)said.window << shift;
	told = (s32)(flow->edge - ack) > 0 ? flow->edge - ack : 0;
	before = flow->acked;
	advance = (s32)(ack - before) > 0 ? ack - before : 0;
	if (advance)
		flow->acked = ack;
	flow->acks += is_pure;
	alive = bpf_map_lookup_elem(&heart, &zero);
	wish = bpf_map_lookup_elem(&wishes, &cut.key);
	if (!alive || !wish || bpf_ktime_get_ns() - *alive > SILENCE) {
		counts->missed += is_pure;
		if (bytes > told)
			flow->edge = ack + bytes;
		flow->window = bytes;
		note_leaving(packet, flow, &cut, said.window);
		return TC_ACT_UNSPEC;
	}
	counts->decided += is_pure;
	wanted = wish->window > 0x3fffffff ? 0x3fffffff : wish->window;
	if (wanted < FLOOR * flow->segment)
		wanted = FLOOR * flow->segment;
	if (wanted < told)
		wanted = told;
	if (wanted < bytes)
		bytes = wanted;
	window = units_of(bytes, shift);
	if (window > said.window)
		window = said.window;
	flow->window = (u32)window << shift;
	flow->edge = ack + flow->window;
	counts->rewritten += window != said.window;
	note_leaving(packet, flow, &cut, window);
	if (is_pure && wish->count > 1 && (wish->is_copies || advance)) {
		u32 count = wish->count, edge = flow->edge, sent = 0;
		u32 from = wish->is_copies ? ack : before, length = ack - from;

		/* The copies pass this hook again and are recognised by tc_index. */
		if (count > MOST_PIECES)
			count = MOST_PIECES;
		for (n = 1; n < MOST_PIECES; n++) {
			u32 part;

			if (n >= count)
				break;
			part = from + (u32)((u64)length * n / count);
			put(packet, at, &said, part, units_of(edge - part, shift));
			sent += !bpf_clone_redirect(packet, packet->ifindex, 0);
		}
		counts->added += sent;
		counts->errors += count - 1 - sent;
		if (put(packet, at, &said, ack, window))
			counts->errors++;
		return TC_ACT_UNSPEC;
	}
	if (window != said.window && put_window(packet, at, &said, window))
		counts->errors++;
	return TC_ACT_UNSPEC;
}

INLINE int arrives(struct __sk_buff *packet, u32 l3)
{
	struct cut cut;
	struct flow *flow;
	struct counts *counts;
	u32 zero = 0, length;

	if (!find(packet, l3, 0, &cut))
		return TC_ACT_UNSPEC;
	counts = bpf_map_lookup_elem(&counters, &zero);
	if (!counts)
		return TC_ACT_UNSPEC;
	counts->seen++;
	length = cut.end > cut.data ? cut.end - cut.data : 0;
	flow = bpf_map_lookup_elem(&flows, &cut.key);
	if (cut.tcp.flags & (SYN | FIN | RST)) {
		/* Without a flow, only a SYN may become a connection of this host. */
		if (flow) {
			length += flow->bytes;
			flow->bytes = 0;
		}
		if (flow || cut.tcp.flags & SYN)
			tell_at_once(packet, &cut, length, 0);
		if (flow && (cut.tcp.flags & (SYN | ACK | RST)) == (SYN | ACK))
			answered(packet, flow, &cut);
		return TC_ACT_UNSPEC;
	}
	if (flow && flow->known & KNOWN && length)
		note_arriving(packet, flow, &cut);
	return TC_ACT_UNSPEC;
}

/* Entry points for devices with an Ethernet header and for devices without one. */
SEC("classifier/lasthop_out") int lasthop_out(struct __sk_buff *packet)
{
	return leaves(packet, 14);
}

SEC("classifier/lasthop_in") int lasthop_in(struct __sk_buff *packet)
{
	return arrives(packet, 14);
}

SEC("classifier/lasthop_raw_out") int lasthop_raw_out(struct __sk_buff *packet)
{
	return leaves(packet, 0);
}

SEC("classifier/lasthop_raw_in") int lasthop_raw_in(struct __sk_buff *packet)
{
	return arrives(packet, 0);
}

char SEC("license") terms[] = "MIT";
