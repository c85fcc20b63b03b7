"""Uses aioquic, QUIC in Python, as the transport stack of a Lasthop flow. Compares a transfer of 2 MB over a lossy path
with TCP.

Needs aioquic (pip install aioquic). aioquic draws keys and connection identifiers from the operating system.
The bytes of its datagrams therefore differ between runs.
"""

import datetime
import ssl

from aioquic.buffer import Buffer
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import pull_quic_header
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

import lasthop

CHUNK = 200_000
"""Amount of data that the source passes to aioquic in one call, bytes."""


def certificate() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Returns a self-signed certificate for the server, and the certificate's key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    begins = datetime.datetime(2020, 1, 1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).serial_number(1).public_key(key.public_key())
    builder = builder.not_valid_before(begins).not_valid_after(begins + datetime.timedelta(36_500))
    return builder.sign(key, hashes.SHA256()), key


SERVER = certificate()


class Aioquic(lasthop.Stack):
    """One end of a QUIC connection with one stream. The source is the client and sends the stream."""

    congestion = "cubic"

    def on_start(self, is_source: bool, datagram_bytes: int, seed: int) -> None:
        self.configuration = QuicConfiguration(
            is_client=is_source,
            alpn_protocols=["lasthop"],
            congestion_control_algorithm=self.congestion,
            max_data=1 << 28,
            max_stream_data=1 << 28,
            max_datagram_size=datagram_bytes,
            server_name="lasthop",
            verify_mode=ssl.CERT_NONE,
        )
        if not is_source:
            self.configuration.certificate, self.configuration.private_key = SERVER
        self.peer = ("192.0.2.2" if is_source else "192.0.2.1", 4433)
        self.connection: QuicConnection | None = None
        self.stream: int | None = None
        self.outgoing: list[bytes] = []
        self.readable, self.has_ended = 0, False

    def open(self, now_s: float) -> None:
        self.connection = QuicConnection(configuration=self.configuration)
        self.connection.connect(self.peer, now=now_s)

    def handle_datagram(self, now_s: float, datagram: bytes, is_marked: bool) -> None:
        if self.connection is None:
            header = pull_quic_header(Buffer(data=datagram), host_cid_length=8)
            self.connection = QuicConnection(
                configuration=self.configuration, original_destination_connection_id=header.destination_cid
            )
        self.connection.receive_datagram(datagram, self.peer, now=now_s)
        self._handle_events()

    def handle_timeout(self, now_s: float) -> None:
        if self.connection is not None:
            self.connection.handle_timer(now=now_s)
            self._handle_events()

    def _handle_events(self) -> None:
        while self.connection is not None and (event := self.connection.next_event()) is not None:
            if isinstance(event, events.HandshakeCompleted) and self.configuration.is_client:
                self.stream = self.connection.get_next_available_stream_id(is_unidirectional=True)
                self.connection.send_stream_data(self.stream, b"")
            elif isinstance(event, events.StreamDataReceived):
                self.readable += len(event.data)
                self.has_ended |= event.end_stream

    def write(self, now_s: float, nbytes: int) -> int:
        if self.connection is None or self.stream is None:
            return 0
        # aioquic does not report free buffer space. The stream's sender reports whether all data is sent.
        if not self.connection._streams[self.stream].sender.buffer_is_empty:
            return 0
        accepted = min(nbytes, CHUNK)
        self.connection.send_stream_data(self.stream, bytes(accepted))
        return accepted

    def finish(self, now_s: float) -> None:
        if self.connection is not None and self.stream is not None:
            self.connection.send_stream_data(self.stream, b"", end_stream=True)

    def poll_datagram(self, now_s: float) -> bytes | None:
        if not self.outgoing and self.connection is not None:
            self.outgoing = [datagram for datagram, _ in self.connection.datagrams_to_send(now=now_s)][::-1]
        return self.outgoing.pop() if self.outgoing else None

    def poll_timeout(self, now_s: float) -> float | None:
        return self.connection.get_timer() if self.connection is not None else None

    def read(self, now_s: float) -> int:
        nbytes, self.readable = self.readable, 0
        return nbytes

    def is_at_end(self) -> bool:
        return self.has_ended


def main() -> None:
    path = "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,transfer=2MB"
    tcp = lasthop.run(path, runs=20)
    quic = lasthop.run(path, runs=20, set={"flow.bulk.kind": "quic", "stack": Aioquic})
    print("TCP    ", tcp.mean("completed_s"))
    print("aioquic", quic.mean("completed_s"))


if __name__ == "__main__":
    main()
