/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/idlist.h"
#include "base/jobid.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_SIZE = 160 };

int idlist_add(struct idlist *list, const char *id, size_t at, struct error *err)
{
    char plain[JOB_SIZE];
    if (!jobid_plain(id, plain, sizeof plain))
        return error_set(err, ERROR_INVALID, "the job id at %zu is too long; nothing was sent", at);
    list->ids = memory_room(list->ids, list->count, &list->room, sizeof *list->ids);
    list->ids[list->count++] = memory_text(plain);
    return 0;
}

int idlist_read(struct idlist *list, FILE *in, struct error *err)
{
    static const char white[] = " \t\r\n";
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    int rc = 0;
    for (size_t line = 1; rc == 0 && (length = getline(&text, &room, in)) >= 0; line++) {
        char *start = text + strspn(text, white), *end = text + length;
        while (end > start && strchr(white, end[-1]))
            end--;
        if (strlen(text) != (size_t)length)
            rc = error_set(err, ERROR_INVALID, "line %zu is no text; nothing was sent", line);
        *end = '\0';
        if (rc == 0 && *start)
            rc = idlist_add(list, start, line, err);
    }
    /* getline ends alike at the end of the text and at a failure. */
    if (rc == 0 && !feof(in))
        rc = error_set(err, ERROR_IO,
                       "the list could not be read to its end (%s); nothing was sent, because jobs "
                       "missing from it would be released",
                       strerror(errno));
    free(text);
    return rc;
}

void idlist_release(struct idlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->ids[i]);
    free(list->ids);
    *list = (struct idlist){0};
}
