"""OpenID Connect provider on loopback, which signs in one person.

Invariant: whoever is sent here is `person`; nobody is asked for a password. Only the code it gave out buys a token, once.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "memoir", "a client's secret for tests"


class Provider:
    """Use as `with Provider(email=…) as provider:`; `person` may change between two sign-ins."""

    def __init__(self, **person: Any) -> None:
        self.person = {"sub": "42"} | person
        self._key = RSAKey.generate_key(2048, {"kid": "test"}, private=True)
        self._codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def secrets(self, app: str) -> str:
        """Return the secrets.toml for the app at this address."""
        return "\n".join(
            [
                "[auth]",
                f'redirect_uri = "{app}/oauth2callback"',
                f'cookie_secret = "{secrets.token_hex(16)}"',
                f'client_id = "{CLIENT}"',
                f'client_secret = "{SECRET}"',
                f'server_metadata_url = "{self.url}/.well-known/openid-configuration"',
            ]
        )

    def _answer(self, path: str, asked: dict[str, str]) -> tuple[int, dict[str, str], dict[str, Any]]:
        if path == "/.well-known/openid-configuration":
            return 200, {}, self._about()
        if path == "/keys":
            return 200, {}, {"keys": [self._key.as_dict(private=False)]}
        if path == "/authorize":
            code = secrets.token_hex(8)
            self._codes[code] = asked
            return 302, {"Location": f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"}, {}
        if path == "/token" and asked.get("code") in self._codes:
            return 200, {}, self._token(self._codes.pop(asked["code"]))
        return 400, {}, {"error": "invalid_request"}

    def _about(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def _token(self, asked: dict[str, str]) -> dict[str, Any]:
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 600, "nonce": asked.get("nonce", "")}
        signed = jwt.encode({"alg": "RS256", "kid": "test"}, claims | self.person, self._key)
        return {"access_token": secrets.token_hex(8), "token_type": "Bearer", "expires_in": 600, "id_token": signed}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._tell(urlsplit(self.path).query)

            def do_POST(self) -> None:
                self._tell(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def _tell(self, query: str) -> None:
                asked = {name: values[0] for name, values in parse_qs(query).items()}
                status, headers, body = provider._answer(urlsplit(self.path).path, asked)
                data = json.dumps(body).encode()
                self.send_response(status)
                for name, value in ({"Content-Type": "application/json", "Content-Length": str(len(data))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Print nothing during tests."""

        return Handler
