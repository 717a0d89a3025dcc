/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/mockfm/transcript.h"
#include "tests/unit/unit.h"

/* One line of what was sent: its "\r\n" are escaped, and its own end means nothing. */
static void append(struct transcript_request *request, const char *text)
{
    while (*text && *text != '\n') {
        assert_true(request->length < sizeof request->bytes - 1);
        if (strncmp(text, "\\r", 2) == 0 || strncmp(text, "\\n", 2) == 0) {
            request->bytes[request->length++] = text[1] == 'r' ? '\r' : '\n';
            text += 2;
        } else {
            request->bytes[request->length++] = *text++;
        }
    }
}

void transcript_read(struct transcript *transcript, const char *path)
{
    struct transcript_request *request = NULL;
    size_t announced[TRANSCRIPT_REQUESTS_MAX] = {0};
    char line[2048];
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    memset(transcript, 0, sizeof *transcript);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "=== ", 4) == 0) {
            assert_true(transcript->count < TRANSCRIPT_REQUESTS_MAX);
            request = &transcript->requests[transcript->count];
            request->connection = (int)strtol(strstr(line, "conn=") + 5, NULL, 10);
            announced[transcript->count++] = strtoul(strstr(line, "raw_bytes=") + 10, NULL, 10);
        } else if (request && strncmp(line, ">>> ", 4) == 0) {
            append(request, line + 4);
        }
    }
    fclose(file);
    assert_true(transcript->count > 0);
    for (size_t i = 0; i < transcript->count; i++)
        assert_int_equal(transcript->requests[i].length, announced[i]);
}
