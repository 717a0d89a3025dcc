/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What `mcastctl doctor` has found: some by the broker, some on this machine. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum finding_level { FINDING_PROBLEM, FINDING_WARNING, FINDING_OK, FINDING_LEVELS };

/* "problem", "warning", "ok"; a word that this version does not know is a warning. */
enum finding_level findings_level(const char *word);

struct findings; /* in the order in which they were added */

struct findings *findings_create(void);
void findings_destroy(struct findings *findings);

/* check: a stable word. advice: what to do, NULL for nothing. Then what was found, as printf has
 * it. Control characters become '?'. */
__attribute__((format(printf, 5, 6))) void findings_add(struct findings *findings,
                                                        enum finding_level level, const char *check,
                                                        const char *advice, const char *format,
                                                        ...);

/* A line of a script of ours, "level<TAB>check<TAB>finding[<TAB>advice]"; ends it at its first tab.
 * False: it is no such line, and nothing was added. */
bool findings_add_line(struct findings *findings, char *line);

/* The broker's own: an array of objects with check, level, finding, advice. What is no finding is
 * left out; a level that this version does not know is a warning. */
void findings_add_json(struct findings *findings, const json_t *array);

size_t findings_count(const struct findings *findings, enum finding_level level);

/* Prints them grouped by level, the worst first, each with its advice, or as JSON, and destroys
 * them. code, if that is not MCAST_EXIT_OK; MCAST_EXIT_REFUSED: one is as bad as that, or worse, or
 * the output could not be written. */
int findings_finish(struct findings *findings, bool json, int code, enum finding_level bad);

/* {"problems":N,"warnings":N,"findings":[…]}, worst first. The caller's. */
json_t *findings_json(const struct findings *findings);
