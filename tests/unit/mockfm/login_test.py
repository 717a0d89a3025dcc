# SPDX-License-Identifier: Apache-2.0
"""mock-fm's logins, its token endpoint and its command line, without HTTP."""

import unittest

from case import Case

from mock_fm.login import AccessTokens, Login, oauth_answer, oauth_owns, parse_form
from mock_fm.message import Request
from mock_fm.options import Options

NOW = 1700000000000000
LIFETIME_US = 1500000


class Tokens(Case):
    def test_token__opens_until_it_expires_and_only_as_a_whole(self):
        tokens = AccessTokens(1000)
        token = tokens.issue(5)
        self.assertEqual(len(token), 1024)
        self.assertNotIn("sess-", token)
        self.assertTrue(tokens.opens(token, 1004))
        self.assertEqual((tokens.live(1004), tokens.live(1005)), (1, 0))
        for wrong in (token[:-1], token + "0", token[1:], "", token.replace(".", "x")):
            self.assertFalse(tokens.opens(wrong, 5))
        self.assertFalse(tokens.opens(token, 1005))

    def test_token__oldest_gives_way(self):
        tokens = AccessTokens(1000)
        issued = [tokens.issue(0) for _ in range(1024)]
        self.assertTrue(tokens.opens(issued[0], 0))
        issued.append(tokens.issue(0))
        self.assertEqual([tokens.opens(token, 0) for token in issued[:2]], [False, True])
        self.assertEqual((tokens.live(0), tokens.issued, len(set(issued))), (1024, 1025, 1025))


class Logins(Case):
    def setUp(self):
        folder = self.make_folder()
        self.write(folder, "client-id", "wlm\r\n")
        self.write(folder, "client-secret", "a&b\nwhat follows the line means nothing\n")
        self.login = Login("oauth", folder, AccessTokens(LIFETIME_US))

    def test_form__is_decoded(self):
        self.assertEqual(parse_form(b"a=1&b=x%20y+z%2B%c3%a9&&empty=&bare&c=="),
                         {"a": "1", "b": "x y z+é", "empty": "", "bare": "", "c": "="})
        self.assertEqual(parse_form(b""), {})
        for wrong in (b"a=%", b"a=%4", b"a=%4g", b"a=%00", b"a=\0", b"a=%ff", b"a%=1", b"a=1&a=2",
                      b"a=1&%61=2"):
            self.assertRaises(ValueError, parse_form, wrong)

    def test_path__is_the_endpoints_or_not(self):
        for right in ("/oauth/token", "/auth/realms/shasta/protocol/openid-connect/token",
                      "/realms/x/protocol/openid-connect/token"):
            self.assertTrue(oauth_owns(right))
        for wrong in ("/oauth/token/", "/oauth", "/auth/realms//protocol/openid-connect/token",
                      "/auth/realms/a/b/protocol/openid-connect/token", "/oauth/token\n",
                      "/auth/protocol/openid-connect/token", "/fabric/collectives/jobs/token"):
            self.assertFalse(oauth_owns(wrong))

    def test_grant__opens_until_it_expires(self):
        """F13; and not with another scheme."""
        body = b"grant_type=client_credentials&client_id=wlm&client_secret=a%26b"
        answer = oauth_answer(self.login, Request("POST", "/oauth/token", body=body, now_us=NOW))
        self.assertEqual((answer.status, answer.headers),
                         (200, [("Cache-Control", "no-store")]))
        self.assertEqual(answer.document["expires_in"], 1)
        token = answer.document["access_token"]
        for header, now_us, judged in (
                ("Bearer " + token, NOW, "admitted"),
                ("Bearer " + token, NOW + LIFETIME_US, "wrong"),
                ("Basic " + token, NOW, "wrong"), ("Bearer sess-1", NOW, "bearer"),
                (None, NOW, "missing")):
            self.assertEqual(self.login.judge(header, now_us), judged)

    def test_client__is_refused_in_the_words_of_the_rfc(self):
        for body, status, error in (
                (b"", 400, "invalid_request"), (b"a=%", 400, "invalid_request"),
                (b"grant_type=password", 400, "unsupported_grant_type"),
                (b"grant_type=client_credentials&client_id=wlm", 401, "invalid_client"),
                (b"grant_type=client_credentials&client_id=wlm&client_secret=", 401,
                 "invalid_client"),
                (b"grant_type=client_credentials&client_id=wlm&client_secret=a", 401,
                 "invalid_client")):
            answer = oauth_answer(self.login, Request("POST", "/oauth/token", body=body))
            self.assertEqual((answer.status, answer.document["error"], answer.challenge),
                             (status, error, False))
        self.assertEqual(oauth_answer(self.login, Request("GET", "/oauth/token")).status, 405)
        none = Login("none", None, None)
        self.assertEqual(oauth_answer(none, Request("POST", "/oauth/token")).status, 404)

    def test_login__names_the_file_it_lacks(self):
        folder = self.make_folder()
        self.assert_refused(500, "/client-id: No such file", Login, "oauth", folder, None)
        self.write(folder, "client-id", "wlm\n")
        self.write(folder, "client-secret", "\n")
        self.assert_refused(500, "/client-secret is empty", Login, "oauth", folder, None)


class CommandLine(Case):
    def test_options__are_read(self):
        options = Options([])
        self.assertEqual((options.listen, options.auth, options.addresses, options.latency,
                          options.seed, options.session_tokens, options.token_lifetime),
                         (("127.0.0.1", 8000), "none", 4086, 0, None, "own-job", 3600))
        options = Options("--listen [::1]:0 --auth oauth --authdir /a --token-lifetime 2.5 "
                          "--seed 0 --overcommit --fabric 512x32x64 --tls-cert /c --tls-key /k "
                          "--client-ca /ca --jobs-listen h:7 --jobs-port-file /j".split())
        self.assertEqual((options.listen, options.jobs_listen, options.seed, options.overcommit,
                          options.token_lifetime, options.fabric.groups, options.jobs_port_file),
                         (("::1", 0), ("h", 7), 0, True, 2.5, 512, "/j"))

    def test_options__wrong_are_named(self):
        oauth, tls = "--auth oauth --authdir /x ", "--tls-cert /c --tls-key /k "
        wrong = (
            ("--listen 8000", "--listen"), ("--listen :8000", "--listen"),
            ("--listen h:x", "port of --listen"), ("--listen h:65536", "65535"),
            ("--listen h:", "--listen"), ("--listen h:-1", "--listen"),
            ("--addresses 0", "--addresses"), ("--addresses 8193", "8192"),
            ("--latency 1s", "--latency"), ("--fabric 2x2", "--fabric"),
            ("--fabric 2x2x4x", "--fabric"), ("--fabric 0x2x4", "--fabric"),
            ("--fabric 2x-2x4", "--fabric"), ("--fabric 513x32x64", "512x32x64"),
            ("--fabric 2x33x64", "512x32x64"), ("--fabric 2x2x65", "512x32x64"),
            ("--fabric 2x99999999999999999999x4", "512x32x64"),
            ("--fabric 2x2x2", "at least 3 ports"), ("--fabric 512x1x64", "at least 512 ports"),
            ("--seed -1", "--seed"), ("--seed 99999999999999999999", "--seed"),
            ("--auth oauth2", "oauth"), ("--auth oauth", "client-secret"),
            ("--token-lifetime 5", "--auth oauth"), (oauth + "--token-lifetime 1e9", "--token-"),
            (oauth + "--token-lifetime 0", "0.001"), (oauth + "--token-lifetime .", "--token-"),
            (oauth + "--token-lifetime 1.2.3", "--token-lifetime"),
            ("--session-tokens job", "trees-only"), ("--session-tokens", "--session-tokens"),
            ("--tls-cert /c", "--tls-key"), ("--tls-key /k", "--tls-cert"),
            ("--client-ca /a", "--tls-cert"), (tls + "--jobs-listen h:1", "--client-ca"),
            (tls + "--client-ca /a --jobs-listen h", "--jobs-listen must be"),
            ("--jobs-port-file /j", "--jobs-listen"), ("--auth basic", "--authdir"),
            ("--authdir /x", "--auth basic"), ("--colour", "--colour"), ("--state", "--state"),
            ("serve", "serve"),
        )
        for words, named in wrong:
            self.assert_refused(400, named, Options, words.split())


if __name__ == "__main__":
    unittest.main()
