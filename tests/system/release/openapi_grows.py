# SPDX-License-Identifier: Apache-2.0
"""The HTTP API only grows: what openapi.json said at the last release it says today, and asks no
more of clients.

usage: openapi_grows.py PROMISED openapi.json     compares; ends with 1 when something is broken
       openapi_grows.py --write PROMISED openapi.json

PROMISED is a list of facts, one a line, so that a reader of a change sees what it promises:
  GET /v1/status 200 : Status               the schema of an answer
  told Status .version: string              a field of it, and its type
  sent Reserve .uid must be sent            asked of a client; may become less, never more
"""
import json
import sys

METHODS = ("get", "put", "post", "patch", "delete")
MUST = " must be sent"


class Document:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.all = json.load(file)
        self.named = set()  # schemas that were told already, (name, whether it is sent)

    def resolve(self, node):
        while "$ref" in node:
            found = self.all
            for key in node["$ref"].lstrip("#/").split("/"):
                found = found[key.replace("~1", "/").replace("~0", "~")]
            node = found
        return node

    def schema(self, node, where, sent):
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            yield "%s: %s" % (where, name)
            if (name, sent) not in self.named:
                self.named.add((name, sent))
                below = "%s %s " % ("sent" if sent else "told", name)
                yield from self.schema(self.resolve(node), below, sent)
            return
        kind = node.get("type")
        if kind:
            kinds = kind if isinstance(kind, list) else [kind]
            # What a client may send may become more; what it is told, and has to understand, not.
            if sent:
                yield from ("%s: %s" % (where, one) for one in kinds)
            else:
                yield "%s: %s" % (where, "|".join(sorted(kinds)))
        if sent:
            yield from ("%s = %s" % (where, json.dumps(value)) for value in node.get("enum", ()))
        for name in node.get("required", ()):
            yield "%s.%s%s" % (where, name, MUST if sent else " is always there")
        for name, below in node.get("properties", {}).items():
            yield from self.schema(below, "%s.%s" % (where, name), sent)
        if isinstance(node.get("items"), dict):
            yield from self.schema(node["items"], where + "[]", sent)
        if isinstance(node.get("additionalProperties"), dict):
            yield from self.schema(node["additionalProperties"], where + ".*", sent)
        for choice in ("oneOf", "anyOf", "allOf"):
            for below in node.get(choice, ()):
                yield from self.schema(below, where, sent)

    def facts(self):
        for path, item in self.all["paths"].items():
            for method in METHODS:
                if method not in item:
                    continue
                call = "%s %s" % (method.upper(), path)
                operation = item[method]
                yield call
                for one in item.get("parameters", []) + operation.get("parameters", []):
                    one = self.resolve(one)
                    where = "%s %s %s" % (call, one["in"], one["name"])
                    yield where
                    if one.get("required") and one["in"] != "path":
                        yield where + MUST
                body = self.resolve(operation.get("requestBody", {}))
                if body.get("required"):
                    yield call + " a body" + MUST
                for media, content in body.get("content", {}).items():
                    yield "%s in %s" % (call, media)
                    yield from self.schema(content.get("schema", {}), call + " in ", True)
                for status, answer in operation["responses"].items():
                    where = "%s %s " % (call, status)
                    yield where.strip()
                    for content in self.resolve(answer).get("content", {}).values():
                        yield from self.schema(content.get("schema", {}), where, False)


def broken(before, now):
    """What clients of before cannot do any more, a line each."""
    known = {" ".join(fact.split(" ")[:2]) for fact in before}
    for fact in sorted(before - now):
        if not fact.endswith(MUST):
            yield "no longer: " + fact
    for fact in sorted(now - before):
        if fact.endswith(MUST) and " ".join(fact.split(" ")[:2]) in known:
            field = fact[:-len(MUST)]
            parent = field.rpartition(".")[0]
            there = parent.endswith(" ") or any(one.startswith(parent + ":") for one in before)
            # In something that is itself new it breaks nobody.
            if there or "." not in field:
                yield "newly asked of clients: " + fact


def main(arguments):
    write = arguments[:1] == ["--write"]
    promised, document = arguments[write:]
    now = set(Document(document).facts())
    if write:
        with open(promised, "w", encoding="utf-8") as file:
            file.writelines(fact + "\n" for fact in sorted(now))
        return 0
    with open(promised, encoding="utf-8") as file:
        before = set(file.read().splitlines())
    if len(before) < 100:
        print("%s promises next to nothing" % promised)
        return 1
    faults = list(broken(before, now))
    for fault in faults:
        print(fault)
    print("%d facts of the API, %d promised, %d broken" % (len(now), len(before), len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
