#!/usr/bin/env python3
"""A tiny supplier portal on this machine, for trying plans with an HTTP step.

    PORTAL_TOKEN=secret examples/plans/portal.py [PORT]      default 8080; 0 picks a free one

It shows what a portal can do with what every call carries:

* Idempotency-Key: the same on every attempt. A key seen before gets the answer it got before, and the supplier is
  not announced twice; the same key with another body is refused (409).
* Fencing-Token: rises with every claim of a run. A call with a lower number than the highest seen for its Run-Id
  comes from a worker that lost its lease, and is refused (412).
* Authorization: must be "Bearer " and PORTAL_TOKEN (401).

Every fifth new supplier is turned away once with 503 and Retry-After, so that a retry can be watched. What it knows
is kept in memory and gone when it ends. It listens on the loopback address only.
"""

import hmac
import http.server
import json
import os
import sys

LARGEST_BODY = 128 * 1024 * 1024


class Portal:
    """What the portal remembers."""

    def __init__(self, token):
        self.token = token
        self.answers = {}
        self.fences = {}
        self.seen = set()

    def announce(self, key, run, fence, body):
        """The status, the answer and the headers for one call."""
        if fence < self.fences.get(run, 0):
            return 412, {"error": f"token {fence} is older than {self.fences[run]}"}, {}
        self.fences[run] = fence
        if key in self.answers:
            first_body, answer = self.answers[key]
            if first_body != body:
                return 409, {"error": "this idempotency key came with another body before"}, {}
            return 200, answer, {}
        if key not in self.seen:
            self.seen.add(key)
            if len(self.seen) % 5 == 0:
                return 503, {"error": "busy, come again"}, {"Retry-After": "1"}
        answer = {"portal_id": f"P-{len(self.answers) + 1:04}", "supplier": json.loads(body)["key"]}
        self.answers[key] = (body, answer)
        return 201, answer, {}


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection, one call."""

    portal = None

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= LARGEST_BODY:
            self.close_connection = True
            return self.answer(413, {"error": "too large"}, {})
        body = self.rfile.read(length)
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.portal.token}".encode()):
            return self.answer(401, {"error": "the token is not this portal's"}, {})
        try:
            key, run = self.headers["Idempotency-Key"], self.headers["Run-Id"]
            fence = int(self.headers["Fencing-Token"])
            reply = self.portal.announce(key, run, fence, body)
        except (KeyError, TypeError, ValueError) as error:
            reply = 400, {"error": f"not a call that this portal understands: {error!r}"}, {}
        return self.answer(*reply)

    def answer(self, status, body, headers):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, form, *values):
        headers = getattr(self, "headers", None) or {}
        run, fence = headers.get("Run-Id", "-"), headers.get("Fencing-Token", "-")
        print(f"{form % values}  run {run}  token {fence}", flush=True)


def main():
    token = os.environ.get("PORTAL_TOKEN")
    if not token:
        sys.exit("PORTAL_TOKEN is not set: it is the token that callers must show")
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
    Handler.portal = Portal(token)
    # One call at a time, so what the portal remembers needs no lock.
    server = http.server.HTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}/suppliers", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
