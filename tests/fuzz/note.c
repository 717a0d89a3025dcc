/* SPDX-License-Identifier: Apache-2.0 */
/* What a node remembers of a job (node/record/note.h): the whole input is a file of the spool. */

#include "base/names.h"
#include "node/record/note.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size);
}

static void check(const struct note *note)
{
    const struct claim *claim = &note->claim;
    FUZZ_CHECK(cluster_name_valid(claim->cluster) && job_id_valid(claim->job));
    FUZZ_CHECK(claim->number >= 1 && claim->number <= INT64_MAX && note->order <= INT64_MAX);
    FUZZ_CHECK(claim->uid != UINT32_MAX && claim->active);
    FUZZ_CHECK(claim->vni_count >= 1 && claim->vni_count <= CXI_SVC_MAX_VNIS);
    FUZZ_CHECK(note->state <= NOTE_GONE);
    FUZZ_CHECK(ends(note->node, sizeof note->node) && ends(note->boot, sizeof note->boot));
    FUZZ_CHECK(note->service_count <= NOTE_SERVICES_MAX);
    for (unsigned int i = 0; i < note->service_count; i++) {
        FUZZ_CHECK(ends(note->services[i].device, sizeof note->services[i].device));
        FUZZ_CHECK(note->services[i].id >= 1);
    }
}

/* Whose service a note names is found by it, and by no other. */
static void check_holder(struct note *note)
{
    const struct notes notes = {.count = 1, .at = note};
    snprintf(note->boot, sizeof note->boot, "%s", statedir_boot());
    for (unsigned int i = 0; i < note->service_count; i++) {
        const struct service_place *service = &note->services[i];
        const struct note *holder = notes_holder(&notes, service->device, service->id);
        FUZZ_CHECK(!holder == (note->state == NOTE_GONE));
        FUZZ_CHECK(!notes_holder(&notes, "no such NIC", service->id));
    }
    FUZZ_CHECK(notes_newest(&notes, NULL, note->claim.job) == note);
    FUZZ_CHECK(notes_newest(&notes, note->claim.cluster, note->claim.job) == note);
}

void fuzz_one(struct fuzz_input *in)
{
    static struct note note, again;
    struct error err = {0};
    char *text = fuzz_rest(in);
    if (note_parse(&note, text, &err) < 0) {
        FUZZ_CHECK(err.code == ERROR_CORRUPT && err.text[0] != '\0');
        FUZZ_CHECK(note.claim.number == 0 && note.service_count == 0 && !note.owed);
    } else {
        char *written = note_format(&note);
        FUZZ_CHECK(written); /* what was read can be kept */
        FUZZ_CHECK(note_parse(&again, written, &err) == 0);
        char *rewritten = note_format(&again);
        FUZZ_CHECK(rewritten && strcmp(written, rewritten) == 0);
        check(&note);
        check_holder(&note);
        free(written);
        free(rewritten);
    }
    free(text);
}
