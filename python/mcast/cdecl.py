# SPDX-License-Identifier: Apache-2.0
"""What this module uses of client/mcast.h, in C's own words, and made into ctypes from them.

So the header can be asked whether they are still true: check_program() makes a C program that does
not compile when a function, a member or a constant is another one there (tests/unit/python). What
the library answers is read as JSON; of the structs that it fills, no layout is needed but the two
below."""
import ctypes
import re

# Members in order. True: the library fills it and may append members; False: all of it is here.
STRUCTS = {
    "mcast_error": (False, """
        int code; int status; char word[48]; char field[64]; char text[508]; unsigned retry_after;
        """),
    "mcast_request": (False, """
        size_t size; const char *cluster; const char *job; uint32_t uid; uint32_t node_count;
        uint32_t cores_per_node; int32_t vni_count; const char *nodes; const char *hwcoll;
        const char *const *traffic_classes; const struct mcast_launch *launch;
        const char *interconnect; uint32_t tasks_per_node; uint32_t cpus_per_task;
        const char *profile; const char *const *shared_vnis;
        const uint16_t *vnis;
        """),
    "mcast_filter": (False, """
        size_t size; const char *cluster; const char *state; uint64_t limit; uint32_t uid;
        const char *node; uint64_t *hidden; bool silent;
        """),
    "mcast_event_filter": (False, """
        size_t size; const char *cluster; const char *job; const char *const *kinds;
        """),
    "mcast_vni_request": (False, """
        size_t size; const char *name; uint32_t uid; bool any_user; const uint32_t *users;
        size_t user_count; const char *const *clusters; uint32_t lifetime_s;
        """),
    "mcast_variable": (True, "const char *name; const char *value; bool secret;"),
    "mcast_event": (True, """
        uint64_t seq; const char *event; const char *time; bool fatal; const char *cluster;
        const char *job; uint64_t number; uint32_t uid; const char *detail; uint64_t gap_from;
        uint64_t gap_to; const char *json;
        """),
}

# What …_INIT says where it is not zero. `size` is set by struct().
DEFAULTS = {
    "mcast_request": {"uid": 2**32 - 1, "vni_count": -1},
    "mcast_filter": {"uid": 2**32 - 1},
    "mcast_event_filter": {},
    "mcast_vni_request": {"uid": 2**32 - 1},
}

CALLBACKS = """
    int mcast_reservation_fn(const struct mcast_reservation *, void *);
    int mcast_variable_fn(const struct mcast_variable *, void *);
    int mcast_event_fn(const struct mcast_event *, void *);
    int mcast_node_fn(const char *, const char *, void *);
    void mcast_wait_fn(const struct mcast_error *, void *);
"""

FUNCTIONS = """
    const char *mcast_version(void);
    int mcast_open(struct mcast **, const char *, struct mcast_error *);
    void mcast_close(struct mcast *);
    void mcast_stop(struct mcast *);
    bool mcast_later(const struct mcast_error *, unsigned *);
    int mcast_set_timeout(struct mcast *, unsigned, struct mcast_error *);
    int mcast_set_retry_timeout(struct mcast *, unsigned, mcast_wait_fn *, void *,
                                struct mcast_error *);
    int mcast_set_cacert(struct mcast *, const char *, struct mcast_error *);
    int mcast_set_certificate(struct mcast *, const char *, const char *, struct mcast_error *);
    int mcast_set_server_user(struct mcast *, const char *, struct mcast_error *);
    int mcast_set_node(struct mcast *, const char *, struct mcast_error *);
    int mcast_set_token(struct mcast *, const char *, struct mcast_error *);
    int mcast_reserve(struct mcast *, const struct mcast_request *, struct mcast_reservation **,
                      struct mcast_error *);
    int mcast_release(struct mcast *, const char *, const char *, struct mcast_reservation **,
                      struct mcast_error *);
    int mcast_release_number(struct mcast *, const char *, const char *, uint64_t,
                             struct mcast_reservation **, struct mcast_error *);
    int mcast_show(struct mcast *, const char *, const char *, struct mcast_reservation **,
                   struct mcast_error *);
    int mcast_own(struct mcast *, struct mcast_reservation **, struct mcast_error *);
    void mcast_reservation_free(struct mcast_reservation *);
    char *mcast_reservation_json(const struct mcast_reservation *, unsigned);
    int mcast_list(struct mcast *, const struct mcast_filter *, mcast_reservation_fn *, void *,
                   struct mcast_error *);
    int mcast_env(struct mcast *, const char *, const char *, const char *, mcast_variable_fn *,
                  void *, struct mcast_error *);
    int mcast_events_filtered(struct mcast *, uint64_t, unsigned, const struct mcast_event_filter *,
                              mcast_event_fn *, void *, struct mcast_error *);
    int mcast_status(struct mcast *, char **, struct mcast_error *);
    int mcast_doctor(struct mcast *, char **, struct mcast_error *);
    int mcast_options(struct mcast *, const char *, char **, struct mcast_error *);
    int mcast_whoami(struct mcast *, char **, struct mcast_error *);
    int mcast_fabric(struct mcast *, char **, struct mcast_error *);
    int mcast_node(struct mcast *, const char *, char **, struct mcast_error *);
    int mcast_nodes(struct mcast *, const char *, mcast_node_fn *, void *, struct mcast_error *);
    int mcast_topology(struct mcast *, const char *, const char *, char **, struct mcast_error *);
    int mcast_job_traffic(struct mcast *, const char *, const char *, char **,
                          struct mcast_error *);
    int mcast_vni_create(struct mcast *, const struct mcast_vni_request *, char **,
                         struct mcast_error *);
    int mcast_vni_list(struct mcast *, char **, struct mcast_error *);
    int mcast_vni_show(struct mcast *, const char *, char **, struct mcast_error *);
    int mcast_vni_remove(struct mcast *, const char *, bool, char **, struct mcast_error *);
"""

CONSTANTS = {
    "MCAST_REFUSED": -1, "MCAST_USAGE": -2, "MCAST_NOT_FOUND": -3, "MCAST_UNREACHABLE": -4,
    "MCAST_UNCLEAR": -5, "MCAST_NOMEM": -6, "MCAST_STOPPED": -7,
    "MCAST_JSON_SECRETS": 1, "MCAST_FOLLOW": 1, "MCAST_OWN_EVENTS": 2,
}

_PLAIN = {"int": ctypes.c_int, "unsigned": ctypes.c_uint, "bool": ctypes.c_bool,
          "size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32,
          "uint64_t": ctypes.c_uint64, "void": None, "const char *": ctypes.c_char_p}


def _blank(text):
    return " ".join(text.split())


def members(name):
    """(name, C type) of each; an array's length stands behind its type."""
    for one in _blank(STRUCTS[name][1]).rstrip(";").split(";"):
        kind, member, length = re.match(r"(.*?)(\w+)(\[\d+\])?$", one.strip()).groups()
        yield member, kind.strip() + (length or "")


def functions(text):
    """(result, name, [types]) of each."""
    for result, name, arguments in re.findall(r"([\w *]+?)(\w+)\(([^)]*)\);", _blank(text)):
        yield result.strip(), name, [word.strip() for word in arguments.split(",")
                                     if word.strip() != "void"]


def _ctype(text):
    if text in _PLAIN:
        return _PLAIN[text]
    if "[" in text:
        return ctypes.c_char * int(text[text.index("[") + 1:-1])
    if text in ("const char *const *", "char **", "struct mcast **", "struct mcast_reservation **"):
        return ctypes.POINTER(ctypes.c_char_p if "const" in text else ctypes.c_void_p)
    word = text.replace("const ", "").replace("struct ", "").rstrip(" *")
    if word in TYPES:
        return TYPES[word] if word.endswith("_fn") else ctypes.POINTER(TYPES[word])
    if word in ("uint32_t", "uint64_t", "unsigned"):
        return ctypes.POINTER(_PLAIN[word])
    return ctypes.c_void_p  # it is not read here


TYPES = {}
for _name in STRUCTS:
    TYPES[_name] = type(_name, (ctypes.Structure,), {
        "_fields_": [(member, _ctype(kind)) for member, kind in members(_name)]})
for _result, _name, _arguments in functions(CALLBACKS):
    # A pointer to a struct that the library filled; char * arrives as bytes.
    TYPES[_name] = ctypes.CFUNCTYPE(_ctype(_result), *[_ctype(kind) for kind in _arguments])


def struct(_struct, **values):
    """One with its size and its defaults, and these values."""
    made = TYPES[_struct]()
    made.size = ctypes.sizeof(made)
    for member, value in dict(DEFAULTS[_struct], **values).items():
        setattr(made, member, value)
    return made


def declare(library):
    for result, name, arguments in functions(FUNCTIONS):
        function = getattr(library, name)
        # What is to be freed must not become bytes before.
        function.restype = ctypes.c_void_p if result == "char *" else _ctype(result)
        function.argtypes = [_ctype(kind) for kind in arguments]


def check_program():
    """A C program that compiles only when all of this is what client/mcast.h says, and prints each
    …_INIT as "NAME BYTES", in hexadecimal."""
    lines = ['#include "client/mcast.h"', "#include <stdio.h>"]
    for name, value in sorted(CONSTANTS.items()):
        lines.append('_Static_assert(%s == %d, "%s");' % (name, value, name))
    for result, name, arguments in functions(FUNCTIONS):
        lines.append("%s %s(%s);" % (result, name, ", ".join(arguments) or "void"))
    for result, name, arguments in functions(CALLBACKS):
        lines.append("typedef %s %s(%s);" % (result, name, ", ".join(arguments)))
    for name, (grows, _) in STRUCTS.items():
        if not grows:
            lines.append('_Static_assert(sizeof(struct %s) == %d, "%s has more members");'
                         % (name, ctypes.sizeof(TYPES[name]), name))
        for member, kind in members(name):
            place = "((struct %s *)0)->%s" % (name, member)
            field = getattr(TYPES[name], member)
            lines.append('_Static_assert(__builtin_types_compatible_p(__typeof__(%s), %s), '
                         '"%s.%s");' % (place, kind, name, member))
            lines.append('_Static_assert(__builtin_offsetof(struct %s, %s) == %d, "%s.%s");'
                         % (name, member, field.offset, name, member))
    lines += ["#define SHOW(name, init) do { static const struct name it = init; puts(\"\"); "
              "fputs(#name \" \", stdout); for (size_t i = 0; i < sizeof it; i++) "
              "printf(\"%02x\", ((const unsigned char *)&it)[i]); } while (0)",
              "int main(void) {"]
    lines += ["SHOW(%s, %s_INIT);" % (name, name.upper()) for name in DEFAULTS]
    lines += ["return 0; }", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    print(check_program())
