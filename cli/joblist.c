/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/joblist.h"
#include "base/jobid.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { JOB_SIZE = 160 };

int joblist_add(struct joblist *list, const char *id)
{
    char plain[JOB_SIZE];
    if (!jobid_plain(id, plain, sizeof plain))
        return JOBLIST_LONG;
    list->ids = memory_room(list->ids, list->count, &list->room, sizeof *list->ids);
    list->ids[list->count++] = memory_text(plain);
    return 0;
}

int joblist_read(struct joblist *list, FILE *in, size_t *line)
{
    static const char white[] = " \t\r\n";
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    int rc = 0;
    for (*line = 1; rc == 0 && (length = getline(&text, &room, in)) >= 0; ++*line) {
        if (strlen(text) != (size_t)length) {
            rc = JOBLIST_BINARY;
            break;
        }
        char *start = text + strspn(text, white);
        char *end = text + length;
        while (end > start && strchr(white, end[-1]))
            end--;
        *end = '\0';
        if (*start && (rc = joblist_add(list, start)) < 0)
            break;
    }
    /* getline ends alike at the end of the text and at a failure. */
    if (rc == 0 && !feof(in))
        rc = JOBLIST_READ;
    free(text);
    return rc;
}

void joblist_release(struct joblist *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->ids[i]);
    free(list->ids);
    *list = (struct joblist){0};
}
