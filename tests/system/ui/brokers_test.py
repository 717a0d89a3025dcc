# SPDX-License-Identifier: Apache-2.0
"""brokers_test.py FOLDER LEADER STANDBY: the page of mcastctl ui beside two brokers, by their
addresses. What the shell script that started it is to do are lines on standard output."""
import re
import sys

from webdriver import Browser

FOLDER, LEADER, STANDBY = sys.argv[1:]


def script(words):
    print(words, flush=True)
    assert sys.stdin.readline().strip() == "done"


def test(browser):
    with open(FOLDER + "/ui.out", encoding="utf-8") as file:
        browser.open(re.findall(r"http://\S+", file.read())[-1])
    browser.await_text("#link", "^live$")
    browser.await_text("#card-broker", rf"leader\s+{LEADER}[^$]*standbys\s+{STANDBY}")
    script("reserve before")
    browser.await_text("#card-events", "elcap/before")
    browser.run("location.hash = '#job/1'")
    browser.await_text("#job-state", "^active$")
    without = browser.run("return document.querySelector('#release') === null")
    assert without, "a job can be released without --write"
    browser.press("1")
    script("kill")
    browser.await_text("#card-broker", rf"leader\s+{STANDBY}")
    browser.await_text("#link", "^live$")
    script("reserve after")
    browser.await_text("#card-events", "elcap/after")
    browser.await_text("#card-vnis", r"in use\s+2\b")
    browser.press("2")
    browser.await_text("#told", "^2 of 2 reservations$")
    browser.press("1")
    browser.await_text("#card-broker", "^[^$]*leader, up")
    script("restart")
    browser.await_text("#card-broker", rf"leader, up[^$]*standbys\s+{LEADER}")


def main():
    browser = Browser(FOLDER)
    try:
        test(browser)
    finally:
        browser.end()


main()
