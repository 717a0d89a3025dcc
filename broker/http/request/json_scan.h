#ifndef MCAST_BROKER_HTTP_REQUEST_JSON_SCAN_H
#define MCAST_BROKER_HTTP_REQUEST_JSON_SCAN_H

#include "broker/http/request/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads JSON where it lies, value by value: for bodies that are long or come often, of which a tree
 * of values would take many times their bytes and one allocation a value. Whoever reads knows what
 * must come next; everything else becomes a problem that says where and what is allowed, and ends
 * the reading: 400 bad JSON, 422 all else.
 *
 * Texts are decoded where they stand, and end with NUL: so the bytes are changed. They are UTF-8
 * without NUL. */

struct json_scan {
    char *start, *at, *end;
    struct problem *problem;
};

/* Reads one member's value; scan is behind the colon. */
typedef int json_member_fn(struct json_scan *scan, const char *name, void *arg);
/* Reads one value of a list. */
typedef int json_item_fn(struct json_scan *scan, size_t index, void *arg);

/* The whole body, which is one object: member is called for each of its members. 0, or -1 with
 * problem set; then what was read is of no use. */
int json_scan_body(char *bytes, size_t length, json_member_fn *member, void *arg,
                   struct problem *problem);

/* -1, with a 400 that names line and column of where reading is. */
int json_scan_bad(const struct json_scan *scan, const char *what);

/* The first character of what comes next, spaces skipped; NUL at the end. */
char json_scan_peek(struct json_scan *scan);

/* What the value is that comes next, for people; NULL: no value begins like this. */
const char *json_scan_kind(struct json_scan *scan);

/* Which of the names (NULL-terminated, 32 at most) it is, and notes in *seen that it was there: or
 * -1 with a 422 for another one, a 400 for one that is there twice. */
int json_scan_name(const struct json_scan *scan, const char *name, const char *const *names,
                   uint32_t *seen);

/* The value that comes next: text, a whole number from min to max, an object, a list; or -1 with a
 * 422 about the field. An object or list that is none is the caller's to name, by peek. */
int json_scan_text(struct json_scan *scan, const char *field, char **value);
int json_scan_number(struct json_scan *scan, const char *field, int64_t min, int64_t max,
                     int64_t *value);
int json_scan_object(struct json_scan *scan, json_member_fn *member, void *arg);
int json_scan_list(struct json_scan *scan, json_item_fn *item, void *arg);

#endif
