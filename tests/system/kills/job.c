/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t job_number(const json_t *answer)
{
    return (uint64_t)json_integer_value(json_object_get(answer, "number"));
}

const char *job_hwcoll(const json_t *answer)
{
    const char *word =
        json_string_value(json_object_get(json_object_get(answer, "hwcoll"), "state"));

    return word ? word : "none";
}

const char *job_token(const json_t *answer)
{
    return json_string_value(
        json_object_get(json_object_get(answer, "env"), "FI_CXI_COLL_MCAST_TOKEN"));
}

void job_path(const struct job *job, char path[JOB_PATH_SIZE])
{
    snprintf(path, JOB_PATH_SIZE, "/v1/clusters/%s/jobs/%s", job->cluster, job->id);
}

/* Mostly large enough for multicast addresses, which begin at 64 nodes. */
void job_begin(struct job *job, struct prng *prng, bool new_id)
{
    static const char *const wishes[] = {"auto", "auto", "auto", "auto",    "auto",
                                         "on",   "on",   "off",  "required"};
    const unsigned nodes = prng_percent(prng, 80) ? prng_between(prng, 64, 999) : 2;
    const char *wish = wishes[prng_below(prng, sizeof wishes / sizeof *wishes)];
    const unsigned vnis = prng_percent(prng, 80) ? 1 : prng_between(prng, 0, 4);

    job->lives++;
    if (new_id || job->id[0] == '\0') {
        snprintf(job->id, sizeof job->id, "f%u.%u", job->index, job->lives);
        job->not_found = false;
    }
    snprintf(job->body, sizeof job->body,
             "{\"uid\":%u,\"node_count\":%u,\"vni_count\":%u,\"hwcoll\":\"%s\"}",
             prng_between(prng, 1000, 1009), nodes, vnis, wish);
    job->life = JOB_ASKED;
    job->canceled = job->created = job->lost_answer = false;
    job->forgotten = job->endangered = job->watched = false;
    job->releases_sent = 0;
    job->again_ns = 0;
}

static void take_vnis(const struct job *job, struct vnis *vnis, int64_t heard_ns)
{
    const json_t *list = json_object_get(job->told, "vnis"), *vni;
    size_t i;

    json_array_foreach(list, i, vni)
    {
        vnis_given(vnis, job->index, (uint16_t)json_integer_value(vni), heard_ns);
    }
}

static void first_told(struct job *job, json_t *answer, struct vnis *vnis, struct history *history,
                       int64_t heard_ns)
{
    const char *word = job_hwcoll(answer);
    struct story *story = history_story(history, job_number(answer));

    job->told = answer;
    if (story->told)
        verdict_fault(vnis->verdict, "S3: number %llu was given to another job before",
                      (unsigned long long)job_number(answer));
    story->told = true;
    if ((strcmp(word, "reserved") == 0) != (job_token(answer) != NULL))
        verdict_fault(vnis->verdict, "%s: hwcoll is %s, and there is %s token", job->id, word,
                      job_token(answer) ? "a" : "no");
    if (job->life == JOB_ASKED && !job->canceled)
        take_vnis(job, vnis, heard_ns);
}

/* Forgotten by the fabric manager, or endangered, it may be told that its addresses are lost, and
 * nothing else. */
static bool same_but_lost(const json_t *told, const json_t *answer)
{
    return job_number(told) == job_number(answer) &&
           json_equal(json_object_get(told, "vnis"), json_object_get(answer, "vnis")) &&
           strcmp(job_hwcoll(answer), "lost") == 0 && !job_token(answer);
}

void job_told(struct job *job, json_t *answer, struct vnis *vnis, struct history *history,
              int64_t heard_ns)
{
    if (!answer || job_number(answer) == 0) {
        verdict_fault(vnis->verdict, "%s: not the answer of a reservation", job->id);
        json_decref(answer);
        return;
    }
    (void)json_object_del(answer, "warning"); /* of a reserve's answer, not of the reservation */
    if (!job->told) {
        first_told(job, answer, vnis, history, heard_ns);
        return;
    }
    if ((job->forgotten || job->endangered) && same_but_lost(job->told, answer)) {
        json_decref(job->told);
        job->told = json_incref(answer); /* and lost it stays */
    } else if (!json_equal(job->told, answer)) {
        char *was = json_dumps(job->told, JSON_COMPACT), *is = json_dumps(answer, JSON_COMPACT);

        verdict_fault(vnis->verdict, "I7: %s: acknowledged was %s, now it is %s", job->id, was, is);
        free(was);
        free(is);
    }
    json_decref(answer);
}

void job_let_go(struct job *job, struct vnis *vnis, int64_t now_ns)
{
    const json_t *list = json_object_get(job->told, "vnis"), *vni;
    size_t i;

    json_array_foreach(list, i, vni)
    {
        vnis_let_go(vnis, job->index, (uint16_t)json_integer_value(vni), now_ns);
    }
}

void job_end(struct job *job, struct history *history)
{
    if (job->told)
        history_story(history, job_number(job->told))->told_released = true;
    json_decref(job->told);
    job->told = NULL;
    job->life = JOB_NONE;
}
