# SPDX-License-Identifier: Apache-2.0
"""Where a C source can be changed by one small mistake, and into what.

Only function bodies are changed; never comments, directives, asserts, or what is only text: log
lines, traces, error messages.
"""
import re
from collections import namedtuple

# line: number from 1; original, mutated: the whole line, before and after; text: the whole file.
Mutant = namedtuple("Mutant", "file line operator original mutated text")
Token = namedtuple("Token", "kind text start end")

TOKEN = re.compile(r"""
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)[uUlL]*)
  | (?P<sign>\+\+|--|->|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)

# A call of one of these makes text, or ends a program that is wrong.
TEXT = re.compile(r"(?:core_trace|core_text|error_set|assert|static_assert|abort|fputs|f?printf|v?snprintf|"
                  r"log|say|warn|complain|trace)(?:_\w+)?$|_words$|PRI\w+$")
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
STAYS = {"return", "break", "continue", "goto", "case", "default", "if", "for", "while", "do",
         "switch", "else", "struct", "enum", "union", "const", "static", "sizeof"}


def tokens_of(text):
    found = []
    for match in TOKEN.finditer(text):
        if match.lastgroup not in ("skip", "directive"):
            found.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
    return found


def partners(tokens):
    """The index of the closing bracket for each opening one."""
    pairs, opened = {}, []
    for i, token in enumerate(tokens):
        if token.kind == "sign" and token.text in "([{":
            opened.append(i)
        elif token.kind == "sign" and token.text in ")]}" and opened:
            pairs[opened.pop()] = i
    return pairs


def bodies(tokens, pairs):
    """(first, last, what the function returns) of each function's body."""
    i = outside = 0
    while i < len(tokens):
        if tokens[i].text == "{" and i in pairs:
            head = [t.text for t in tokens[outside:i]]
            if tokens[i - 1].text == ")" and "=" not in head:
                yield i, pairs[i], head[:head.index("(") - 1]
            i = pairs[i]
            outside = i + 1
        elif tokens[i].text == ";":
            outside = i + 1
        i += 1


def texts_only(tokens, pairs, first, last):
    """Indices within calls that only make text."""
    hidden = set()
    for i in range(first, last):
        if tokens[i].kind == "name" and TEXT.search(tokens[i].text) and i + 1 in pairs:
            hidden.update(range(i, pairs[i + 1] + 1))
    return hidden


def statement_end(tokens, pairs, at):
    while tokens[at].text not in (";", "{", "}"):
        at = pairs[at] + 1 if at in pairs else at + 1
    return at if tokens[at].text == ";" else None


def is_removable(tokens, pairs, first, end):
    """An assignment, a count, or a call whose result is not used."""
    at = first
    if [t.text for t in tokens[at:at + 3]] == ["(", "void", ")"]:
        at += 3
    if tokens[at].text in ("++", "--") or tokens[end - 1].text in ("++", "--"):
        return True
    while tokens[at].text == "*":
        at += 1
    if tokens[at].kind != "name" or tokens[at].text in STAYS:
        return False
    at += 1
    while tokens[at].text in (".", "->", "[") and at < end:
        at = pairs[at] + 1 if tokens[at].text == "[" else at + 2
    return tokens[at].text in ASSIGNS or (tokens[at].text == "(" and pairs.get(at) == end - 1)


def swapped_return(returns, value):
    if "*" in returns:
        return None if value == "NULL" else "NULL"
    if "bool" in returns:
        return {"true": "false", "false": "true"}.get(value, "!(%s)" % value)
    return "1" if value == "0" else "0"


def changes(tokens, pairs, first, last, returns, text):
    """(start, end, replacement, operator) within one body."""
    hidden = texts_only(tokens, pairs, first, last)
    brackets = [i for i in pairs if first <= i < last]
    for i in range(first + 1, last):
        token, before = tokens[i], tokens[i - 1]
        if i in hidden:
            continue
        if token.text in ("if", "while") and i + 1 in pairs:
            begin, end = tokens[i + 1].end, tokens[pairs[i + 1]].start
            condition = [t.text for t in tokens[i + 2:pairs[i + 1]]]
            if ("==" in condition or "!=" in condition) and not {"&&", "||"} & set(condition):
                continue  # to swap the operator is the same mistake
            yield begin, end, "!(%s)" % text[begin:end], "negated condition"
        if token.kind == "sign" and token.text in SWAPS:
            yield token.start, token.end, SWAPS[token.text], "swapped operator"
        if token.text in ("+", "-") and (before.kind in ("name", "number") or before.text in ")]") \
                and before.text != "return":
            yield token.start, token.end, "-" if token.text == "+" else "+", "swapped operator"
        if token.kind == "number" and not (before.text == "{" and tokens[i + 1].text == "}"):
            digits = token.text.rstrip("uUlL")
            value = 1 if "." in digits else int(digits, 8 if digits[:2].isdigit() and digits[0] == "0" else 0)
            suffix = token.text[len(token.text.rstrip("uUlL")):]
            yield token.start, token.end, "%d%s" % (value + 1, suffix), "off by one"
        if token.text == "return" and tokens[i + 1].text != ";":
            end = statement_end(tokens, pairs, i + 1)
            begin = tokens[i + 1].start
            value = swapped_return(returns, text[begin:tokens[end].start]) if end else None
            if value is not None:
                yield begin, tokens[end].start, value, "swapped return value"
        starts = before.text in (";", "{", "}", "else", ":") or \
            (before.text == ")" and any(pairs[b] == i - 1 and
                                        tokens[b - 1].text in ("if", "for", "while")
                                        for b in brackets))
        inside = any(b < i < pairs[b] for b in brackets if tokens[b].text in "([")
        if starts and not inside:
            end = statement_end(tokens, pairs, i)
            if end and end > i and is_removable(tokens, pairs, i, end):
                yield token.start, tokens[end].start, "", "removed statement"


def mutants_of(path, text):
    tokens = tokens_of(text)
    pairs = partners(tokens)
    found = []
    for first, last, returns in bodies(tokens, pairs):
        for start, end, new, operator in changes(tokens, pairs, first, last, returns, text):
            changed = text[:start] + new + text[end:]
            begin = text.rfind("\n", 0, start) + 1
            stop = text.find("\n", end)
            original = " ".join(text[begin:stop].split())
            mutated = " ".join(changed[begin:stop + len(changed) - len(text)].split())
            found.append(Mutant(path, text.count("\n", 0, start) + 1, operator, original, mutated,
                                changed))
    return found
