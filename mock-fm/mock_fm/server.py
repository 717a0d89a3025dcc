# SPDX-License-Identifier: Apache-2.0
"""The HTTP server: a thread for each connection, so that what is delayed delays no other.

One request: read it, let it misbehave as the fault rules say, act, answer. It acts when its time
comes, also when its client has gone."""

import re
import socket
import ssl
import threading
import time

from mock_fm import control, faults, login
from mock_fm.message import Answer, Problem, Request, error_answer

BODY_MAX = 16 << 20  # bytes; the NICs of 11,136 nodes need less than 1 MB
HEAD_MAX = 32 << 10
BLOCK = 4096
BACKLOG = 4096
IDLE_S = 300  # then a kept connection is closed
STACK = 256 << 10
REASONS = {
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 302: "Found",
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 409: "Conflict", 413: "Content Too Large",
    429: "Too Many Requests", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 507: "Insufficient Storage",
}


class Closed(Exception):
    """The connection ends: its client has gone, or is to see that."""


def now_us():
    return time.time_ns() // 1000


def is_number(text):
    return re.fullmatch("[0-9]{1,18}", text) is not None


def query_number(query, name):
    """0 when it is not there, or is no number."""
    for field in query.split("&"):
        key, _, value = field.partition("=")
        if key == name and is_number(value):
            return int(value)
    return 0


class Tls:
    """The contexts of new connections: with client certificates, if there is a client CA, and, for
    jobs, without. Read anew, all or nothing; older connections keep what they have."""

    def __init__(self, options):
        self.options = options
        self.read()

    def read(self):
        options = self.options
        context, for_jobs = (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for _ in range(2))
        for each in (context, for_jobs):
            each.set_alpn_protocols(["http/1.1"])
            each.options |= ssl.OP_NO_TICKET  # each client shows its certificate each time
            each.num_tickets = 0
            try:
                each.load_cert_chain(options.tls_cert, options.tls_key)
            except OSError as error:  # as all of ssl's
                raise Problem(500, "cannot use certificate %s with key %s: %s" %
                              (options.tls_cert, options.tls_key, error.strerror)) from None
        if options.client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            try:
                context.load_verify_locations(options.client_ca)
            except OSError as error:
                raise Problem(500, "cannot use the client CA %s: %s" %
                              (options.client_ca, error.strerror)) from None
        self.context, self.for_jobs = context, for_jobs


class Service:
    """What all connections share. `lock`: of all that requests read and change."""

    def __init__(self, fabric, rules, latency_ms, reload):
        self.lock = threading.Lock()
        self.fabric = fabric
        self.faults = rules
        self.latency_ms = latency_ms
        self.log = control.RequestLog()
        self.control = control.Control(fabric, rules, self.log, reload)


class Listener:
    def __init__(self, service, address, tls, for_jobs):
        """Listens at the address; a Problem when it cannot. tls: None: plain HTTP."""
        self.service = service
        self.tls = tls
        self.is_for_jobs = for_jobs
        host, port = address
        try:
            # As bytes: a name in letters of ASCII needs no idna.
            found = socket.getaddrinfo(host.encode(), port, type=socket.SOCK_STREAM,
                                       flags=socket.AI_PASSIVE)
            family, kind, protocol, _, where = found[0]
            self.socket = socket.socket(family, kind, protocol)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind(where)
            self.socket.listen(BACKLOG)
        except OSError as error:
            raise Problem(500, "cannot listen at %s:%d: %s" %
                          (host, port, error.strerror)) from None
        self.port = self.socket.getsockname()[1]
        self.shown = "[%s]:%d" % (host, self.port) if ":" in host else "%s:%d" % (host, self.port)

    def start(self):
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        threading.stack_size(STACK)
        while True:
            try:
                accepted, _ = self.socket.accept()
                threading.Thread(target=self.serve, args=(accepted,), daemon=True).start()
            except (OSError, RuntimeError):  # no descriptor or thread is left: some client will go
                time.sleep(0.01)

    def serve(self, accepted):
        try:
            with accepted:
                accepted.settimeout(IDLE_S)
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connected = self.secure(accepted) if self.tls else accepted
                with connected, connected.makefile("rb") as file:
                    Connection(self, connected, file).serve()
        except (Closed, OSError):
            pass

    def secure(self, accepted):
        context = self.tls.for_jobs if self.is_for_jobs else self.tls.context
        # Detached from `accepted`, which stays open for the alert: what is closed with unread bytes
        # resets the connection, and its client might not see why.
        copy = accepted.dup()
        try:
            secured = context.wrap_socket(copy, server_side=True)
        except OSError:
            accepted.shutdown(socket.SHUT_WR)
            accepted.settimeout(1)
            while accepted.recv(BLOCK):
                pass
            raise
        accepted.close()
        return secured


class Connection:
    def __init__(self, listener, connected, file):
        self.service = listener.service
        self.socket = connected
        self.file = file
        self.number = None  # in the log, once it has carried a request
        self.keep = True

    def serve(self):
        while self.keep:
            try:
                request = self.read_request()
            except Problem as problem:  # nothing can be read after it
                self.keep = False
                self.send(error_answer(problem), "GET", {})
            else:
                self.handle(request)

    # ---- reading ----

    def read_line(self):
        line = self.file.readline(HEAD_MAX)
        if not line:
            raise Closed
        if not line.endswith(b"\n"):
            raise Problem(431, "a line of the head is longer than %d bytes" % HEAD_MAX)
        return line.rstrip(b"\r\n")

    def read_headers(self):
        """By name in small letters; of those that are there twice the first."""
        headers, length = {}, 0
        while line := self.read_line():
            length += len(line)
            name, colon, value = line.partition(b":")
            if not colon or length > HEAD_MAX:
                raise Problem(400 if not colon else 431, "the head of the request is no HTTP, or "
                              "longer than %d bytes" % HEAD_MAX)
            headers.setdefault(name.lower().decode("latin-1"), value.strip().decode("latin-1"))
        return headers

    def read_request(self):
        while not (line := self.read_line()):
            pass
        words = line.split(b" ")
        if len(words) != 3 or words[2] not in (b"HTTP/1.1", b"HTTP/1.0") or words[1][:1] != b"/":
            raise Problem(400, "this is no request of HTTP/1.1")
        headers = self.read_headers()
        if words[2] == b"HTTP/1.0" or headers.get("connection", "").lower() == "close":
            self.keep = False
        path, _, query = words[1].partition(b"?")
        request = Request(words[0].decode("latin-1"), login.unquote(path).decode(errors="replace"),
                          headers.get("authorization"))
        query = query.decode("latin-1")
        # The last two as Xenon's lists have them.
        request.page_size = query_number(query, "pageSize") or query_number(query, "$limit")
        request.expand = "expand" in query.split("&")
        request.after = query_number(query, "since" if control.owns(request.path) else "after")
        if headers.get("expect", "").lower() == "100-continue":
            self.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.body = self.read_body(headers)
        return request

    def read_body(self, headers):
        """None: longer than BODY_MAX; it is read and ignored."""
        if "transfer-encoding" not in headers:
            length = headers.get("content-length", "0")
            if not is_number(length):
                raise Problem(400, "Content-Length is no number")
            return self.read_bytes(int(length))
        if headers["transfer-encoding"].lower() != "chunked":
            raise Problem(400, "Transfer-Encoding must be chunked")
        body = b""
        while size := self.read_chunk_size():
            chunk = self.read_bytes(size)
            body = None if body is None or chunk is None or len(body) + size > BODY_MAX \
                else body + chunk
            self.read_line()
        while self.read_line():  # trailers
            pass
        return body

    def read_chunk_size(self):
        try:
            return int(self.read_line().partition(b";")[0], 16)
        except ValueError:
            raise Problem(400, "the size of a chunk is no number") from None

    def read_bytes(self, length):
        kept = length <= BODY_MAX
        while not kept and length > BLOCK:
            length -= len(self.file.read(BLOCK)) or length
        body = self.file.read(length)
        if len(body) < length:
            raise Closed
        return body if kept else None

    # ---- acting ----

    def handle(self, request):
        service = self.service
        request.now_us = now_us()
        if control.owns(request.path):
            with service.lock:
                answer = self.act(request, service.control.answer)
                body = answer.body()
            self.send(answer, request.method, {}, body)
            return
        with service.lock:
            session = login.shows_session(request.authorization)
            if self.number is None:
                service.log.connections += 1
                self.number = service.log.connections
            entry = service.log.begin(self.number, request, session)
            fault = service.faults.pick(request, session)
        faults.bend_request(fault, request)
        if "act_after_ms" in fault:
            time.sleep(fault["act_after_ms"] / 1000)
            request.now_us = now_us()
        with service.lock:
            answer = Answer(0)
            if faults.lets_act(fault):
                answer = self.act(request, self.answer_client)
            answer = faults.bend_answer(fault, request.method, answer)
        delay_ms = service.latency_ms + fault.get("delay_ms", 0)
        if delay_ms:
            time.sleep(delay_ms / 1000)
        dropped = "drop" in fault
        with service.lock:
            control.finish_entry(entry, None if dropped else answer.status)
        if dropped:
            raise Closed
        self.send(answer, request.method, fault)

    def act(self, request, answer):
        if request.body is None:
            return error_answer(Problem(413, "the body is longer than %d bytes" % BODY_MAX))
        return answer(request)

    def answer_client(self, request):
        fabric = self.service.fabric
        if login.oauth_owns(request.path):
            return login.oauth_answer(fabric.login, request)
        return fabric.answer(request)

    # ---- answering: whole, or as a fault says: half of it, byte by byte, without a length ----

    def head(self, answer, fault, length):
        chunked = bool(fault.get("chunked")) and length > 0
        headers = list(fault.get("headers", {}).items())
        named = {name.lower() for name, _ in headers}
        if "date" not in named:
            headers.append(("Date", time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())))
        if "content-type" not in named and length > 0:
            headers.append(("Content-Type", "application/json"))
        headers += answer.headers
        if answer.challenge:
            headers.append(("WWW-Authenticate", self.service.fabric.login.challenge))
        if chunked:
            headers.append(("Transfer-Encoding", "chunked"))
        elif answer.status not in (204, 304):
            headers.append(("Content-Length", str(length)))
        if not self.keep and "connection" not in named:
            headers.append(("Connection", "close"))
        lines = ["HTTP/1.1 %d %s" % (answer.status, REASONS.get(answer.status, "Status"))]
        lines += ["%s: %s" % header for header in headers]
        return "\r\n".join([*lines, "", ""]).encode()

    def send(self, answer, method, fault, body=None):
        if body is None:
            body = faults.bend_body(fault, answer.body())
        head = self.head(answer, fault, len(body))
        if method == "HEAD" or answer.status in (204, 304):
            body = b""
        end = len(body) // 2 if fault.get("truncate") else len(body)
        if body and (fault.get("chunked") or "byte_every_ms" in fault):
            self.socket.sendall(head)
            self.send_pieces(body[:end], fault)
            if fault.get("chunked") and end == len(body):
                self.socket.sendall(b"0\r\n\r\n")
        else:
            self.socket.sendall(head + body[:end])
        if end < len(body):
            raise Closed

    def send_pieces(self, body, fault):
        every_ms = fault.get("byte_every_ms", 0)
        size = 1 if every_ms else BLOCK
        for start in range(0, len(body), size):
            time.sleep(every_ms / 1000)
            piece = body[start:start + size]
            if fault.get("chunked"):
                piece = b"%x\r\n%s\r\n" % (len(piece), piece)
            self.socket.sendall(piece)
