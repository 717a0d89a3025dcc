/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/jobs/joblines.h"

#include "base/memory.h"
#include "base/names.h"
#include "base/jobid.h"
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 40 /* bytes of a wrong line that a sentence shows */ };

/* ---- one line ---- */

#define HEX "0123456789abcdefABCDEF"

/* Hexadecimal, dothex ("0000.0004.b200.0000"), or its folder in Flux's KVS. Decimal is not among
 * them: so is Slurm's. */
static bool foreign_flux_form(const char *id)
{
    int end = 0;
    if (strncmp(id, "0x", 2) == 0)
        return id[2] != '\0' && id[2 + strspn(id + 2, HEX)] == '\0';
    if (strncmp(id, "job.", 4) == 0)
        id += 4;
    (void)sscanf(id, "%*4[" HEX "].%*4[" HEX "].%*4[" HEX "].%*4[" HEX "]%n", &end);
    return end == 19 && id[end] == '\0'; /* each of four digits */
}

static int line_error(const struct joblines *lines, const char *line, const char *why,
                      struct error *err)
{
    char shown[SHOWN_MAX + 1];
    const bool cut = snprintf(shown, sizeof shown, "%s", line) > SHOWN_MAX;
    text_make_printable(shown);
    return error_set(err, ERROR_INVALID, "line %u of its output, \"%s%s\", %s",
                     (unsigned)lines->line, shown, cut ? "..." : "", why);
}

/* The line that is being read is whole, and ends with a NUL: an id stays, anything else goes. */
static int finish_line(struct joblines *lines, struct error *err)
{
    char *line = lines->text + lines->line_at, *id = line;
    size_t size = lines->length - lines->line_at; /* with the NUL */
    lines->line++;
    if (strlen(line) + 1 != size)
        return error_set(err, ERROR_INVALID, "line %u of its output has a NUL byte in it",
                         (unsigned)lines->line);
    if (size > 1 && line[size - 2] == '\r')
        line[--size - 1] = '\0';
    while (size > 1 && isblank((unsigned char)line[size - 2]))
        line[--size - 1] = '\0';
    id += strspn(id, " \t");
    lines->length = lines->line_at;
    if (*id == '\0')
        return 0;
    (void)jobid_plain(id, id, strlen(id) + 1); /* no longer than before */
    if (!job_id_valid(id))
        return line_error(lines, id, "is no job id: 1 to 128 of A-Z, a-z, 0-9 and ._:@+-", err);
    if (foreign_flux_form(id))
        return line_error(lines, id,
                          "is a Flux job id in a form that jobs are not reserved under; print "
                          "{id.f58plain}",
                          err);
    if (lines->count == JOBLINES_IDS_MAX)
        return error_set(err, ERROR_FULL, "it names more than %d jobs", JOBLINES_IDS_MAX);
    size = strlen(id) + 1;
    memmove(line, id, size);
    lines->count++;
    lines->length = lines->line_at += size;
    return 0;
}

/* ---- the bytes ---- */

/* Adds to the line that is being read. */
static void append_bytes(struct joblines *lines, const char *bytes, size_t size)
{
    if (!lines->text || lines->room - lines->length < size) {
        lines->room = 2 * (lines->room + size) + 4096;
        lines->text = memory_resized(lines->text, lines->room, 1);
    }
    memcpy(lines->text + lines->length, bytes, size);
    lines->length += size;
}

int joblines_add(struct joblines *lines, const char *bytes, size_t size, struct error *err)
{
    assert(!lines->ids);
    int rc = 0;
    if (size > JOBLINES_BYTES_MAX - lines->bytes)
        return error_set(err, ERROR_FULL, "its output is longer than %d MiB",
                         JOBLINES_BYTES_MAX / 1024 / 1024);
    lines->bytes += size;
    while (size > 0 && rc == 0) {
        const char *newline = memchr(bytes, '\n', size);
        size_t take = newline ? (size_t)(newline - bytes) : size;
        append_bytes(lines, bytes, take);
        if (newline) {
            append_bytes(lines, "", 1);
            rc = finish_line(lines, err);
            take++;
        }
        bytes += take;
        size -= take;
    }
    return rc;
}

int joblines_end(struct joblines *lines, struct error *err)
{
    assert(!lines->ids);
    append_bytes(lines, "", 1);
    int rc = finish_line(lines, err);
    if (rc < 0)
        return rc;
    lines->ids = memory_zeroed((lines->count + 1) * sizeof *lines->ids);
    const char *id = lines->text;
    for (uint32_t i = 0; i < lines->count; i++) {
        lines->ids[i] = id;
        id += strlen(id) + 1;
    }
    return 0;
}

void joblines_release(struct joblines *lines)
{
    free(lines->text);
    free(lines->ids);
    *lines = (struct joblines){0};
}
