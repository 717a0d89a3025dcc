# SPDX-License-Identifier: Apache-2.0
"""Drives Chromium through chromedriver by WebDriver's own HTTP interface (W3C), nothing else."""
import base64
import json
import os
import re
import subprocess
import time
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowDown": "\ue015", "End": "\ue010"}


class Browser:
    """A Chromium of its own, with a profile below `folder`, which is thrown away."""

    def __init__(self, folder):
        said = self.start()
        if self.driver.poll() is not None:
            raise RuntimeError("chromedriver ends:\n" + said)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update",
                     "--host-resolver-rules=MAP rebound.example 127.0.0.1",
                     f"--user-data-dir={folder}/chromium", "--window-size=1280,800"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # Chromium refuses to run as root with it
        self.session = ""
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + made["sessionId"]

    def start(self):
        """What it said, unless it listens. Its own port it takes of IPv6 first: another program may have
        that of IPv4, and where there is no IPv6 it does not say which it has."""
        port = os.environ["WEBDRIVER_PORT"]
        self.driver = subprocess.Popen(["chromedriver", "--port=" + port], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        self.base = f"http://127.0.0.1:{port}"
        said = ""
        for line in self.driver.stdout:
            if "started successfully" in line:
                return ""
            said += line
        self.driver.wait()
        return said

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + self.session + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with self.opener.open(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def end(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """The script's last argument is called with the result."""
        return self.ask("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def chrome(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector):
        found = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        return "/element/" + found[ELEMENT]

    def click(self, selector):
        self.ask("POST", self.find(selector) + "/click", {})

    def type(self, selector, text):
        self.ask("POST", self.find(selector) + "/value", {"text": text})

    def press(self, *names):
        """Keys of the keyboard, wherever the focus is."""
        actions = []
        for name in names:
            value = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def await_text(self, selector, words, seconds=120):
        """Until the element has the words (a regular expression); returns its text."""
        end = time.monotonic() + seconds
        while not re.search(words, seen := self.text(selector)):
            if time.monotonic() > end:
                raise AssertionError(f"{selector} never has '{words}'; it has:\n{seen}\n"
                                     f"the page: {self.text('body')[:1500]}\n"
                                     f"its log: {self.ask('POST', '/se/log', {'type': 'browser'})}")
            time.sleep(0.05)
        return seen

    def look(self, dark, width, height):
        """As one sees it who has this screen, and wants it dark, or light."""
        self.chrome("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.chrome("Emulation.setDeviceMetricsOverride", width=width, height=height,
                    deviceScaleFactor=1, mobile=width < 800)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))
