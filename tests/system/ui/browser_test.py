# SPDX-License-Identifier: Apache-2.0
"""browser_test.py FOLDER JOBS [PICTURES]: the page of mcastctl ui in Chromium, beside a broker
whose socket, ui.out and other files are in FOLDER; JOBS reservations are made, besides those that
are followed. PICTURES: a folder for screenshots. What the shell script that started it, which owns
the broker, is to do are lines on standard output: kill, start."""
import http.client
import json
import re
import socket
import statistics
import sys
import threading
import time

from webdriver import Browser

FOLDER, JOBS = sys.argv[1], int(sys.argv[2])
PICTURES = sys.argv[3] if len(sys.argv) > 3 else None

# Text and what is behind it, of all that can be seen; WCAG's contrast of less than 4.5 is named.
CONTRAST = """
const parse = (color) => (color.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92
    : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const bad = [];
for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!text.length || !element.getClientRects().length) continue;
    let behind = element, color;
    do color = parse(getComputedStyle(behind).backgroundColor);
    while (color[3] === 0 && (behind = behind.parentElement));
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(color)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${element.tagName} ${text[0].data.trim()}: ${ratio.toFixed(2)}`);
}
return bad;
"""

# All that a page keeps, or that stands in its address.
KEPT = """
const done = arguments[0];
(async () => {
    const databases = (await indexedDB.databases()).length, stores = (await caches.keys()).length;
    const workers = (await navigator.serviceWorker.getRegistrations()).length;
    done({page: document.documentElement.outerHTML, address: location.href, cookie: document.cookie,
        name: window.name, state: JSON.stringify(history.state),
        local: JSON.stringify({...localStorage}), session: JSON.stringify({...sessionStorage}),
        // The navigation's own entry has the address as it was opened, with the key that is spent.
        requests: performance.getEntriesByType("resource").map((one) => one.name).join("\\n"),
        counts: [databases, stores, workers]});
})();
"""

# Scrolls through all of the table, a screen a frame; the time of each frame.
FRAMES = """
const done = arguments[1], table = document.querySelector("#table"), times = [];
const step = table.scrollHeight / arguments[0];
let last = performance.now();
requestAnimationFrame(function frame(now) {
    times.push(now - last);
    last = now;
    table.scrollTop += step;
    if (times.length < arguments0) requestAnimationFrame(frame); else done(times.slice(2));
});
""".replace("arguments0", "count").replace("const done", "const count = arguments[0], done", 1)

# What is drawn anew at any time is not found first and clicked then.
CLICK = "document.querySelector(arguments[0]).click()"

FILTER = """
const input = document.querySelector("#filter");
input.value = arguments[0];
const begin = performance.now();
input.dispatchEvent(new Event("input"));
document.querySelector("#table").getBoundingClientRect(); // with layout
return performance.now() - begin;
"""


class Broker:
    """The broker's own interface, on its socket."""

    def __init__(self):
        self.connection = http.client.HTTPConnection("localhost")
        self.connection.sock = socket.socket(socket.AF_UNIX)
        self.connection.sock.connect(FOLDER + "/mcastd.sock")

    def ask(self, method, path, body=None):
        self.connection.request(method, path, None if body is None else json.dumps(body),
                                {"Content-Type": "application/json"} if body else {})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {text}")
        return json.loads(text)


def fill(first, last):
    broker = Broker()
    for i in range(first, last):
        broker.ask("PUT", f"/v1/clusters/elcap/jobs/old{i}", {
            "uid": 1000 + i % 50, "nodes": f"elcap[{i % 900 + 1}-{i % 900 + 16}]", "vni_count": 0,
            "hwcoll": "off"})


def fill_all():
    threads = [threading.Thread(target=fill, args=(JOBS * i // 8, JOBS * (i + 1) // 8))
               for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def script(word):
    """Has the script do it."""
    print(word, flush=True)
    assert sys.stdin.readline().strip() == "done"


def address():
    with open(FOLDER + "/ui.out", encoding="utf-8") as file:
        return re.findall(r"http://\S+", file.read())[-1]


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def check_nothing_kept(browser, secrets):
    kept = browser.run_async(KEPT)
    everything = json.dumps(kept)
    for secret in secrets:
        check(secret not in everything, "a secret is in the page, its storage, or its address")
    check(not re.search("[0-9a-f]{64}", everything), "something as long as a key is kept")
    check(kept["counts"] == [0, 0, 0] and not kept["cookie"] and kept["local"] == "{}"
          and kept["session"] == "{}" and kept["name"] == "",
          f"something is kept: {kept['counts']}")
    origin = "/".join(kept["address"].split("/")[:3])
    others = [url for url in kept["requests"].split("\n")
              if ":" in url and not url.startswith((origin, "data:,")) and "//" in url]
    check(not others, f"requests to elsewhere: {others}")
    named = "return document.querySelectorAll('[style*=url],[src^=http],[href^=http]').length"
    check(browser.run(named) == 0, "the page names other places")


def check_looks(browser, name):
    """No words that are hard to read, and nothing wider than the screen."""
    for dark in False, True:
        for width, height in (1280, 800), (390, 800):
            browser.look(dark, width, height)
            bad = browser.run(CONTRAST)
            check(not bad, f"{name}, dark {dark}: contrast of {bad}")
            wide = browser.run("return document.documentElement.scrollWidth - innerWidth")
            check(wide <= 0, f"{name}, {width} px: {wide} px wider than the screen")
            if PICTURES and (dark, width) in ((False, 1280), (True, 390)):
                browser.picture(f"{PICTURES}/ui-{name}{'-phone' if width < 800 else ''}.png")
    browser.look(False, 1280, 800)


def follow_a_job(browser, broker):
    """From its reserve to its end, without a reload."""
    path = "/v1/clusters/elcap/jobs/life"
    made = broker.ask("PUT", path, {"uid": 1234, "nodes": "elcap[1-4]"})
    token = next((value for name, value in made["env"].items() if "TOKEN" in name), None)
    check(token, f"the job has no token: {list(made['env'])}")
    browser.await_text("#card-events", "elcap/life")
    browser.press("2")
    browser.await_text("#told", "reservations")
    browser.type("#filter", "ELCAP/life")
    browser.await_text("#told", "^1 of ")
    browser.press("Escape", "Enter")
    browser.await_text("#job-state", "^active$")
    browser.await_text("#job-life", "asked for[^$]*reserved")
    browser.await_text("#job-map", "g0s0[^$]*g1s0")
    check_looks(browser, "job")
    check_nothing_kept(browser, [token])
    broker.ask("PUT", path + "/nodes/elcap1", {"number": made["number"], "order": 1,
                                               "state": "created"})
    broker.ask("DELETE", path)
    browser.await_text("#job-state", "^releasing$")
    browser.await_text("#job-waits", "elcap1: created")
    for node in range(1, 5):
        if node == 4:
            check_looks(browser, "job")
        broker.ask("PUT", f"{path}/nodes/elcap{node}", {"number": made["number"], "order": 2,
                                                        "state": "destroyed"})
        if node < 4:
            browser.await_text("#job-life", f"{node} of 4 nodes are clean")
    browser.await_text("#job-state", "^gone$")
    browser.await_text("#job-life", "its VNIs are free")
    browser.press("Escape")
    browser.await_text("#told", "^0 of ")
    return token


def release_a_job(browser, broker):
    """With --write: it is asked first, and the broker's answer is shown, also a refusal."""
    path = "/v1/clusters/elcap/jobs/"
    for job in "given", "taken":
        made = broker.ask("PUT", path + job, {"uid": 1234, "nodes": "elcap[1-4]", "vni_count": 0,
                                              "hwcoll": "off"})
        browser.run("location.hash = arguments[0]", f"#job/{made['number']}")
        browser.await_text("#job-facts", f"elcap/{job}[^$]*active")
        browser.run(CLICK, "#release")
        browser.await_text("#release-box", f"Release elcap/{job}[^$]*uid 1234, 4 nodes")
        check_looks(browser, "release")
        if job == "given":
            browser.press("Escape")
            browser.await_text("#release-box", "^$")
            browser.await_text("#job-state", "^active$")
            browser.run(CLICK, "#release")
            browser.click("#release-no")
            check(broker.ask("GET", path + job)["state"] == "active", "it is released unasked")
            browser.run(CLICK, "#release")
            browser.click("#release-yes")
            browser.await_text("#release-told", "The broker answers: releasing")
        else:  # the same name is another reservation's by now
            broker.ask("DELETE", path + job)
            broker.ask("PUT", path + job, {"uid": 1234, "nodes": "elcap[1-4]", "vni_count": 0,
                                           "hwcoll": "off"})
            browser.click("#release-yes")
            browser.await_text("#release-told", "Not released: [^$]*has reservation")
            check(broker.ask("GET", path + job)["state"] == "active", "another one is released")
            broker.ask("DELETE", path + job)
        browser.press("Escape")
        browser.await_text("#release-box", "^$")
        browser.press("Escape")
        browser.await_text("#told", "of ")


def use_table(browser):
    browser.run("document.querySelector('#filter').value = ''; "
                "document.querySelector('#filter').dispatchEvent(new Event('input'))")
    total = f"{JOBS:,}".replace(",", "\u202f")
    browser.await_text("#told", f"of {total} reservations$", 300)
    drawn = browser.run("return document.querySelectorAll('#rows .row').length")
    check(0 < drawn < 80, f"{drawn} rows are drawn")
    browser.click("#head > span:nth-child(2) button")  # by the job's name
    browser.await_text("#head", "job ↑")
    browser.await_text("#rows .row", "old0")
    browser.run("document.querySelector('#table').focus()")
    browser.press("End")
    browser.await_text("#rows .row:last-child", "old9")
    browser.press("/")
    browser.type("#filter", "uid1007 active")
    browser.await_text("#told", f"^{len(range(7, JOBS, 50)):,} of".replace(",", "\u202f"))
    check_looks(browser, "jobs")


def measure(browser):
    words = ["o", "old", "old9", "old99", "uid1007", "uid1007 elcap[8-23]", "nothing like it", ""]
    filters = [browser.run(FILTER, word) for word in words * 3]
    frames = sorted(browser.run_async(FRAMES, 200))
    print(f"# {JOBS} reservations: a filter takes {statistics.median(filters):.1f} ms, at most "
          f"{max(filters):.1f} ms; a frame while scrolling {statistics.median(frames):.1f} ms, "
          f"99 of 100 at most {frames[len(frames) * 99 // 100]:.1f} ms, "
          f"at most {frames[-1]:.1f} ms", flush=True)


def check_other_site(browser, base):
    """A page of a site whose name leads here: it gets nothing, by that name or by ours."""
    port = base.split(":")[-1]
    browser.open(f"http://rebound.example:{port}/")
    browser.await_text("body", "other-host")
    ask = """
        const [url, headers, done] = arguments;
        fetch(url, {headers}).then((answer) => answer.text().then((text) => done(
            `${answer.status} ${text}`)), (error) => done(error.name));
    """
    check("other-host" in browser.run_async(ask, "/v1/status", {"Mcast-Key": "0" * 64}), "rebound")
    browser.open("data:text/html,<p>another site")
    for headers in {}, {"Mcast-Key": "0" * 64}:
        got = browser.run_async(ask, f"{base}/v1/status", headers)
        check(got == "TypeError", f"another site's page gets: {got}")


def await_curves(browser):
    """The broker takes a sample each 10 s."""
    browser.await_text("#time-reserves", r"at most (0\.[1-9]|[1-9])", 60)
    browser.await_text("#time-latency", r"99 of 100, up to: [\d.–]+, at most \d", 60)


def test(browser):
    broker = Broker()
    opened = address()
    key = opened.split("#")[1]
    began = time.monotonic()
    fill_all()
    print(f"# filled in {time.monotonic() - began:.1f} s", flush=True)
    browser.look(False, 1280, 800)
    browser.open(opened)
    browser.await_text("#link", "^live$")
    for card, words in (("link", "up, for"), ("vnis", "free"), ("findings", "."),
                        ("broker", "leader"), ("addresses", r"0 of 4\u202f086[^$]*elcap\s+0 of its budget of 100"),
                        ("waits", "reserves at the fabric manager")):
        browser.await_text(f"#card-{card}", words)
    check_looks(browser, "now")
    for name in "constructor", "nothing":  # neither is a view
        browser.run(f"location.hash = '#{name}'")
        browser.await_text("nav a[aria-current]", "Now")
        browser.run("location.hash = '#time'")
        browser.await_text("nav a[aria-current]", "Time")
    browser.press("1")
    token = follow_a_job(browser, broker)
    release_a_job(browser, broker)
    use_table(browser)
    if JOBS >= 10000:
        measure(browser)

    # The broker dies beneath it, and comes back: no reload, and what happened since is there.
    browser.press("Escape", "1")
    script("kill")
    browser.await_text("#link", "not connected")
    browser.await_text("#trouble", "tried again")
    script("start")
    browser.await_text("#link", "^live$")
    broker = Broker()
    broker.ask("PUT", "/v1/clusters/elcap/jobs/after", {"uid": 1, "nodes": "elcap[1-2]"})
    browser.await_text("#card-events", "elcap/after")
    browser.await_text("#card-vnis", r"in use\s+1\b[^$]*elcap\s+1 in use \(\d+")
    browser.await_text("#card-addresses", r"elcap\s+23 of its budget of 100")
    check_looks(browser, "now")
    browser.await_text("#card-link", r"\d\s*up\b")
    browser.press("3")
    browser.await_text("#time-queue", r"calls: [\d.]+, at most [\d.]+")
    for i in range(3):
        broker.ask("PUT", f"/v1/clusters/elcap/jobs/curve{i}", {"uid": 1, "nodes": "elcap[1-2]"})
    await_curves(browser)
    check_looks(browser, "time")
    check_nothing_kept(browser, [key, token])

    # A used address, and a reload, are no way in; the new address is.
    browser.open(opened + "0")
    browser.open("about:blank")
    browser.open(opened)
    browser.await_text("#trouble", "used before")
    browser.await_text("#view", "^$")
    browser.open(address())
    browser.await_text("#link", "^live$")
    browser.press("3")
    await_curves(browser)  # of before this page was opened
    errors = [line for line in browser.ask("POST", "/se/log", {"type": "browser"})
              if line["level"] != "INFO" and "Failed to load resource" not in line["message"]]
    check(not errors, f"the page's log: {errors}")
    check_other_site(browser, opened.split("/#")[0])


def main():
    browser = Browser(FOLDER)
    try:
        test(browser)
    finally:
        browser.end()


main()
