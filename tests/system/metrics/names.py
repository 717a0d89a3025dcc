# SPDX-License-Identifier: Apache-2.0
"""names.py TOP SCRAPE RECORDED: whether alert rules, their test, the dashboard and docs/metrics.md name
what the broker shows, and the page all of it. SCRAPE is an answer of /metrics in which every family
has a sample. Writes the dashboard's expressions as rules to RECORDED, for promtool.
"""
import json
import re
import sys

top, scrape_name, recorded = sys.argv[1:4]
RULES, RULES_TEST = "deploy/prometheus/mcastd.rules.yml", "tests/system/metrics/rules_test.yml"
DASHBOARD, PAGE = "deploy/grafana/mcastd.json", "docs/metrics.md"


def read(name):
    return open("%s/%s" % (top, name), encoding="utf-8").read()


def check(good, words):
    if not good:
        sys.exit(words)


# ---- what the broker shows: {name: [type, help, labels in the order in which they come]}

families, shown = {}, set()
scrape = open(scrape_name, encoding="utf-8").read()
for line in scrape.splitlines():
    comment = re.fullmatch(r"# (HELP|TYPE) (\w+) (.*)", line)
    if comment:
        member, name, text = comment.groups()
        family = families.setdefault(name, {"labels": None})
        check(member not in family, "%s has its %s twice" % (name, member))
        family[member] = text
        endings = ["_bucket", "_sum", "_count"] if family.get("TYPE") == "histogram" else [""]
        shown |= {name} | {name + ending for ending in endings}
        continue
    sample = re.fullmatch(r"(\w+)(?:\{(.*)\})? \S+", line)
    check(sample and name and sample[1] in {name + ending for ending in endings},
          "no HELP and TYPE before " + line)
    family["labels"] = family["labels"] or []
    for label in re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', sample[2] or ""):
        if label != "le" and label not in family["labels"]:
            family["labels"].append(label)


def unknown(text):
    return [name for name in re.findall(r"\b(?:mcastd|process)_\w+", text) if name not in shown]


def check_names(where, text):
    check(not unknown(text), "%s names %s, which the broker does not show" % (where, unknown(text)))


# A finder of names that finds nothing would let everything pass.
check(unknown("rate(mcastd_nonsense_total[5m])") and unknown("mcastd_vnis_bucket"), "blind")
check(not unknown("mcastd_commit_records_bucket, xmcastd_vnis, mcastd."), "sees too much")

# ---- rules: each alert says what it is, what it means and what to do, and is tried

rules, rules_test, page = read(RULES), read(RULES_TEST), read(PAGE)
check_names(RULES, rules)
check_names(RULES_TEST, rules_test)
check_names(PAGE, page)
alerts = re.split(r"- alert: (\w+)", rules)[1:]
check(len(alerts) > 40, "there are few alerts")
for name, alert in zip(alerts[::2], alerts[1::2]):
    for member in ("expr: ", "severity: ", "summary: ", "description: ", "action: "):
        check(alert.count(member) == 1, "%s has not one %s" % (name, member))
    tried = 'ALERTS{alertname="%s",alertstate="firing"}' % name
    check(rules_test.count(tried) == 1, "%s does not try %s" % (RULES_TEST, name))

# ---- the page: a row for each, with just its type, labels and help

for name, family in families.items():
    check(family["labels"] is not None, name + " has no sample: its labels are not known")
    row = "\n| `%s` | %s | %s | %s |\n" % (name, family["TYPE"], ", ".join(family["labels"]),
                                           family["HELP"])
    check(row in page, PAGE + " lacks the row" + row)

# ---- the dashboard


def expressions(value):
    if isinstance(value, list):
        return sum(map(expressions, value), [])
    if not isinstance(value, dict):
        return []
    return sum(([member] if key == "expr" and isinstance(member, str) else expressions(member)
                for key, member in value.items()), [])


dashboard = json.loads(read(DASHBOARD))
check(len(dashboard["panels"]) > 20 and all(panel["title"] for panel in dashboard["panels"]),
      DASHBOARD + ": panels without a title, or few")
check(len(expressions(dashboard)) > 40, DASHBOARD + " has few expressions")
with open(recorded, "w", encoding="utf-8") as out:
    out.write("groups:\n- name: dashboard\n  rules:\n")
    for number, expr in enumerate(expressions(dashboard)):
        check_names(DASHBOARD, expr)
        filled = re.sub(r"\$\w+", "x", expr.replace("$__rate_interval", "5m"))
        out.write("  - record: dashboard:%d\n    expr: |-\n      %s\n" % (number, filled))
