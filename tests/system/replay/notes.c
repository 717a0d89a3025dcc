/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/replay/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULTS_PRINTED = 20 };

struct notes *notes_create(size_t jobs)
{
    struct notes *notes = calloc(1, sizeof *notes);

    if (notes && !(notes->jobs = calloc(jobs, sizeof *notes->jobs))) {
        free(notes);
        return NULL;
    }
    if (notes)
        notes->job_count = jobs;
    return notes;
}

void notes_destroy(struct notes *notes)
{
    if (notes)
        free(notes->jobs);
    free(notes);
}

void notes_fault(struct notes *notes, const char *format, ...)
{
    va_list args;

    if (notes->faults++ >= FAULTS_PRINTED)
        return;
    va_start(args, format);
    fprintf(stderr, "FAULT: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
}

/* What an answer says. A fault when it is not of the documented shape. */
static bool read_answer(struct notes *notes, uint32_t job, const json_t *answer, struct note *note)
{
    const json_t *vnis = json_object_get(answer, "vnis");
    const char *state = json_string_value(json_object_get(answer, "state"));
    const char *hwcoll =
        json_string_value(json_object_get(json_object_get(answer, "hwcoll"), "state"));
    const char *token = json_string_value(
        json_object_get(json_object_get(answer, "env"), "FI_CXI_COLL_MCAST_TOKEN"));

    *note = (struct note){.number = (uint64_t)json_integer_value(json_object_get(answer, "number")),
                          .vni_count = (unsigned)json_array_size(vnis)};
    if (note->number == 0 || note->vni_count == 0 || note->vni_count > NOTES_VNIS_MAX || !state ||
        strcmp(state, "active") != 0 || !hwcoll || strlen(hwcoll) >= NOTES_STATE_SIZE ||
        (token && strlen(token) >= NOTES_SECRET_SIZE)) {
        notes_fault(notes, "job %u: not the answer of an active reservation", job);
        return false;
    }
    for (unsigned i = 0; i < note->vni_count; i++)
        note->vnis[i] = (uint16_t)json_integer_value(json_array_get(vnis, i));
    snprintf(note->hwcoll, sizeof note->hwcoll, "%s", hwcoll);
    snprintf(note->token, sizeof note->token, "%s", token ? token : "");
    if ((strcmp(hwcoll, "reserved") == 0) != (note->token[0] != '\0'))
        notes_fault(notes, "job %u: hwcoll is %s, and there is %s token", job, hwcoll,
                    token ? "a" : "no");
    return true;
}

static void take_vnis(struct notes *notes, uint32_t job, const struct note *note)
{
    for (unsigned i = 0; i < note->vni_count; i++) {
        uint32_t *owner = &notes->owners[note->vnis[i]];

        if (*owner)
            notes_fault(notes, "VNI %u is in two live jobs, %u and %u", note->vnis[i], *owner - 1,
                        job);
        *owner = job + 1;
    }
}

static void count_hwcoll(struct notes *notes, const char *state)
{
    if (strcmp(state, "reserved") == 0)
        notes->reserved++;
    else if (strcmp(state, "denied") == 0)
        notes->denied++;
    else if (strcmp(state, "timeout") == 0)
        notes->timeout++;
    else if (strcmp(state, "unavailable") == 0)
        notes->unavailable++;
    else if (strcmp(state, "ineligible") == 0)
        notes->ineligible++;
    else
        notes_fault(notes, "hwcoll.state of a job is '%s'", state);
}

void notes_reserved(struct notes *notes, uint32_t job, const json_t *answer, bool fresh)
{
    struct note *note = &notes->jobs[job];
    struct note said;

    if (note->life != NOTES_ASKED) {
        notes_fault(notes, "job %u: an answer to a reserve that was answered", job);
        return;
    }
    if (!read_answer(notes, job, answer, &said))
        return;
    if (fresh && said.number <= notes->floor)
        notes_fault(notes, "job %u: number %llu was passed before the restart (S3)", job,
                    (unsigned long long)said.number);
    take_vnis(notes, job, &said);
    count_hwcoll(notes, said.hwcoll);
    *note = said;
    note->life = NOTES_LIVE;
    if (said.number > notes->highest)
        notes->highest = said.number;
    if (++notes->live > notes->live_max)
        notes->live_max = notes->live;
    notes->holding += note->token[0] != '\0';
    if (notes->holding > notes->holding_max)
        notes->holding_max = notes->holding;
}

void notes_releasing(struct notes *notes, uint32_t job)
{
    struct note *note = &notes->jobs[job];

    note->life = NOTES_RELEASING;
    notes->live--;
    notes->holding -= note->token[0] != '\0';
    for (unsigned i = 0; i < note->vni_count; i++)
        if (notes->owners[note->vnis[i]] == job + 1)
            notes->owners[note->vnis[i]] = 0;
}

void notes_released(struct notes *notes, uint32_t job)
{
    notes->jobs[job].life = NOTES_RELEASED;
    notes->released++;
}

void notes_compare(struct notes *notes, uint32_t job, int status, const json_t *answer)
{
    const struct note *note = &notes->jobs[job];
    struct note said;

    if (status != 200) {
        notes_fault(notes, "job %u was acknowledged, and is lost: GET says %d", job, status);
        return;
    }
    if (!read_answer(notes, job, answer, &said))
        return;
    if (said.number != note->number || said.vni_count != note->vni_count ||
        memcmp(said.vnis, note->vnis, sizeof said.vnis) != 0)
        notes_fault(notes, "job %u: number or VNIs are not those acknowledged", job);
    if (strcmp(said.hwcoll, note->hwcoll) != 0 || strcmp(said.token, note->token) != 0)
        notes_fault(notes, "job %u: hwcoll is %s, acknowledged was %s%s", job, said.hwcoll,
                    note->hwcoll, strcmp(said.token, note->token) ? "; the token differs" : "");
}

void notes_compare_released(struct notes *notes, uint32_t job, int status, const json_t *answer)
{
    const char *state = json_string_value(json_object_get(answer, "state"));

    if (status != 404 && (status != 200 || !state || strcmp(state, "active") == 0))
        notes_fault(notes, "job %u was released by its answer, and GET says %d, state %s", job,
                    status, state ? state : "none");
}

static int by_number(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

void notes_conclude(struct notes *notes)
{
    uint64_t *numbers = calloc(notes->job_count, sizeof *numbers);

    if (!numbers) {
        notes_fault(notes, "out of memory");
        return;
    }
    for (uint32_t job = 0; job < notes->job_count; job++) {
        numbers[job] = notes->jobs[job].number;
        if (notes->jobs[job].life != NOTES_RELEASED)
            notes_fault(notes, "job %u was never released", job);
    }
    qsort(numbers, notes->job_count, sizeof *numbers, by_number);
    for (size_t i = 1; i < notes->job_count; i++)
        if (numbers[i] == numbers[i - 1])
            notes_fault(notes, "number %llu was given twice (S3)", (unsigned long long)numbers[i]);
    free(numbers);
}
