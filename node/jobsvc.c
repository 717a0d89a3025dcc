/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/launched.h"
#include "node/jobsvc.h"

#include "core/reservation/record.h"
#include "node/record/remainder.h"
#include "node/services/holders.h"
#include "node/services/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Which services services_destroy looks for. */
struct search {
    const struct node *node;
    const struct claim *claim;
};

/* Two jobs that share a byte only wait for each other. */
static uint64_t lock_of(const char *cluster, const char *job)
{
    return STATEDIR_NICS + UINT64_C(1) + name_hash(cluster, job);
}

int jobsvc_lock(struct node *node, const char *cluster, const char *job, struct error *err)
{
    return statedir_lock(&node->dir, lock_of(cluster, job), err);
}

bool jobsvc_try_lock(struct node *node, const struct claim *claim)
{
    return statedir_try_lock(&node->dir, lock_of(claim->cluster, claim->job));
}

void jobsvc_unlock(struct node *node, const struct claim *claim)
{
    statedir_unlock(&node->dir, lock_of(claim->cluster, claim->job));
}

bool jobsvc_is_of_another(const struct node *node, const struct claim *claim, struct error *err)
{
    struct note note;
    if (note_read(&node->dir, claim->number, &note, NULL) < 0 ||
        strcmp(note.claim.name, claim->name) == 0)
        return false;
    (void)error_set(err, ERROR_FULL,
                    "job %s: reservation %llu is job %s's on this node: two brokers give numbers "
                    "here, or a ledger was restored; run the job again, which gets another",
                    claim->name, (unsigned long long)claim->number, note.claim.name);
    return true;
}

void jobsvc_intend(const struct node *node, const struct claim *claim, struct note *note)
{
    *note = (struct note){.claim = *claim, .state = NOTE_INTENDED, .order = node->boot.order};
    snprintf(note->node, sizeof note->node, "%s", node->name);
    snprintf(note->boot, sizeof note->boot, "%s", statedir_boot());
}

static bool service_is_of_claim(void *arg, const struct nic *nic,
                                const struct cxi_svc_desc *service)
{
    const struct search *search = arg;
    const struct claim *claim = search->claim;
    if (!service_is_of(service, claim->uid, claim->vnis, claim->vni_count))
        return false;
    const struct note *holder = notes_holder(&search->node->notes, nic->name, service->svc_id);
    return !holder || holder->claim.number == claim->number;
}

const struct cxi_svc_desc *jobsvc_on(const struct node *node, const struct claim *claim,
                                     const struct nic *nic)
{
    struct search search = {.node = node, .claim = claim};
    return nic_service(nic, service_is_of_claim, &search);
}

/* ---- Destroying ---- */

static void add_service(struct note *note, const char *device, unsigned int id)
{
    if (id == 0 || note->service_count == NOTE_SERVICES_MAX)
        return;
    struct service_place *service = &note->services[note->service_count++];
    snprintf(service->device, sizeof service->device, "%s", device);
    service->id = id;
}

const char *jobsvc_describe_left(struct node *node, const struct note *note,
                                 const struct service_left *left, char out[JOBSVC_LEFT_TEXT_SIZE])
{
    const size_t size = JOBSVC_LEFT_TEXT_SIZE;
    char holders[HOLDERS_TEXT_SIZE];
    if (left->failure == -EBUSY)
        snprintf(out, size, "%s: service %u of job %s is still in use: by %s", left->device,
                 left->id, note->claim.name,
                 holders_describe("/proc", note->claim.uid, left->device, &node->looks, holders));
    else if (left->failure == -EPERM)
        snprintf(out, size,
                 "%s: service %u of job %s cannot be destroyed: that needs CAP_SYS_ADMIN; run it "
                 "as root",
                 left->device, left->id, note->claim.name);
    else if (left->id)
        snprintf(out, size, "%s: service %u of job %s cannot be destroyed: %s; look at dmesg",
                 left->device, left->id, note->claim.name, strerror(-left->failure));
    else
        snprintf(out, size,
                 "%s cannot be asked for its services: %s; those of job %s may still be there",
                 left->device, strerror(-left->failure), note->claim.name);
    return out;
}

bool jobsvc_may_run(const struct note *note)
{
    return note->state == NOTE_MADE && note_is_current(note) &&
           holders_user_lives("/proc", note->claim.uid);
}

/* Fills what is left. Negative: the NICs cannot be asked, and nothing is known. */
static int destroy_all(struct node *node, const struct note *note, const struct jobsvc_end *end,
                       struct services_left *result, struct error *err)
{
    struct search search = {.node = node, .claim = &note->claim};
    struct retry retry;
    *result = (struct services_left){0};
    if (!note_is_current(note))
        return 0;
    int rc = node_find_nics(node, err);
    if (rc < 0 && !end->known)
        return rc == ERROR_NOT_FOUND ? 0 : rc;
    if (rc < 0 && !end->left)
        say("%s", err->text);
    if (rc == 0) {
        retry_begin(&retry, &retry_real, end->busy_ms);
        services_destroy(&node->nics, service_is_of_claim, &search, &retry, result);
    }
    /* A NIC that has gone, with a service on it, is not known to be clean: it may come back with
     * the service, until the machine boots. */
    for (unsigned int i = 0; i < note->service_count; i++) {
        const struct service_place *service = &note->services[i];
        if (!nics_find(&node->nics, service->device))
            services_add_left(result, service->device, service->id, -ENODEV);
    }
    if (rc < 0 && result->left_count == 0) /* killed before it could note what it made */
        services_add_left(result, "every NIC", 0, -ENODEV);
    return 0;
}

/* Into the note. before: as it was, which knows the ids on a NIC that could not be asked. */
static void keep_left(struct note *note, const struct note *before,
                      const struct services_left *result)
{
    note->service_count = 0;
    note->stuck = false;
    for (unsigned int i = 0; i < result->left_count; i++) {
        const struct service_left *left = &result->left[i];
        note->stuck |= left->failure != -EBUSY;
        add_service(note, left->device, left->id);
        for (unsigned int s = 0; left->id == 0 && s < before->service_count; s++) {
            if (strcmp(before->services[s].device, left->device) == 0)
                add_service(note, left->device, before->services[s].id);
        }
    }
}

/* The broker has a recent report that the same services linger. */
static bool is_reported(const struct note *before, const struct note *now)
{
    bool same = note_is_reported(before, note_clock_ms()) && now->state == NOTE_LINGERING &&
                before->service_count == now->service_count;
    for (unsigned int i = 0; same && i < now->service_count; i++)
        same = now->services[i].id == before->services[i].id &&
               strcmp(now->services[i].device, before->services[i].device) == 0;
    return same;
}

int jobsvc_destroy(struct node *node, struct note *note, const struct jobsvc_end *end,
                   struct error *err)
{
    struct services_left result;
    const struct note before = *note;
    char text[JOBSVC_LEFT_TEXT_SIZE];
    if (end->undo)
        note->traffic = (struct traffic){0};
    else
        traffic_end(node, note);
    int rc = destroy_all(node, note, end, &result, err);
    if (rc < 0)
        return rc;
    keep_left(note, &before, &result);
    note->state = result.left_count > 0 ? NOTE_LINGERING : end->undo ? NOTE_INTENDED : NOTE_GONE;
    note->owed = note->postponed = false;
    /* The broker does not wait for a node outside the job's list, and refuses its reports. */
    if (node->settings.report && !note->claim.elsewhere && note_report_word(note->state) &&
        !is_reported(&before, note))
        note_owe(note);
    if (note->state == NOTE_LINGERING)
        note_tried(note, note_clock_ms());
    /* What a launch document could still make: also where no prolog has been, or not yet. */
    if (note->state == NOTE_GONE && (note->claim.launched_until_s || !end->known) &&
        ended_add(&node->dir, &note->claim, err) < 0)
        return err->code;
    for (unsigned int i = 0; !end->left && i < result.left_count; i++)
        say("%s", jobsvc_describe_left(node, note, &result.left[i], text));
    if (end->left)
        *end->left = result;
    return note_write(&node->dir, note, err);
}

/* ---- Making ---- */

/* The reservation's that the site allows; 0 with an error when none is left (F12). */
static unsigned int choose_classes(const struct node *node, const struct claim *claim,
                                   struct error *err)
{
    unsigned int allowed = node->settings.traffic_classes;
    unsigned int asked = claim->traffic_classes ? claim->traffic_classes
                                                : (unsigned)(TC_BEST_EFFORT | TC_LOW_LATENCY);
    unsigned int classes = asked & allowed;
    for (unsigned int bit = 1; bit <= TC_BEST_EFFORT; bit <<= 1) {
        if (claim->traffic_classes & bit & ~allowed)
            say("traffic class %s is not allowed on this node, the job goes without (node.conf: "
                "traffic_classes)",
                traffic_class_word((int)bit));
    }
    if (!classes)
        error_set(err, ERROR_FULL,
                  "none of the job's traffic classes is allowed on this node (node.conf: "
                  "traffic_classes)");
    return classes;
}

static int check_nics(struct node *node, struct error *err)
{
    const struct settings *settings = &node->settings;
    const struct nic *failed = nics_failed(&node->nics);
    if (node->nics.gone[0])
        say("warning: %s was removed since it was listed; the job does not use it",
            node->nics.gone);
    if (failed)
        return error_set(err, ERROR_IO,
                         "%s cannot be opened, or not be asked for its services: "
                         "%s; look at dmesg",
                         failed->name, strerror(-failed->failure));
    if (node->nics.count < settings->min_nics)
        return error_set(err, ERROR_REFUSED,
                         "the node has %u NIC%s, and a job with VNIs needs at least %u here "
                         "(node.conf: min_nics)",
                         node->nics.count, node->nics.count == 1 ? "" : "s", settings->min_nics);
    return 0;
}

static void say_shortages(struct node *node, const struct nic *nic, const struct fit *fit)
{
    char text[FIT_TEXT_SIZE];
    const bool refused = !node->settings.adjust_limits;
    for (int i = 0; i < LIMITS_COUNT; i++) {
        if (fit_lacks(fit, limits_resources[i].type))
            say("%s%s", refused ? "" : "warning: ",
                fit_explain(fit, &limits_resources[i], refused, nic, node_job_of, node, text));
    }
}

/* What would be done on the NIC. id: of the service that is there; 0: one would be made. */
static void print_plan(const struct nic *nic, const struct service_order *order,
                       const struct fit *fit, int id)
{
    const struct claim *claim = order->claim;
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    if (id > 0) {
        printf("%s: would keep service %d\n", nic->name, id);
        return;
    }
    printf("%s: would create a service for uid %u, VNIs %s, traffic classes 0x%02x,", nic->name,
           claim->uid, claim_vnis(claim->vnis, claim->vni_count, vnis), order->traffic_classes);
    for (int i = 0; i < LIMITS_COUNT; i++) {
        const struct cxi_limits *of = &fit->limits.type[limits_resources[i].type];
        printf(" %s %u/%u", limits_resources[i].key, of->res, of->max);
    }
    putchar('\n');
}

/* note: gets what was made; NULL when it is only planned. */
static int create_all(struct node *node, const struct service_order *order, struct note *note,
                      struct error *err)
{
    int rc = order->plan ? 0 : statedir_lock(&node->dir, STATEDIR_NICS, err);
    for (unsigned int i = 0; rc >= 0 && i < node->nics.count; i++) {
        struct nic *nic = &node->nics.at[i];
        struct fit fit = {0};
        if (nic_refresh(&node->nics, nic) < 0) {
            rc = error_set(err, ERROR_IO, "%s cannot be asked for its services: %s", nic->name,
                           strerror(-nic->failure));
            break;
        }
        if (nic->info.link_state != 1)
            say("warning: %s: its link is down", nic->name);
        rc = service_create(&node->nics, nic, order, &fit, err);
        if (rc >= 0 && order->plan)
            print_plan(nic, order, &fit, rc);
        if (rc >= 0 || order->exact)
            say_shortages(node, nic, &fit);
        if (rc >= 0 && note)
            add_service(note, nic->name, (unsigned int)rc);
    }
    statedir_unlock(&node->dir, STATEDIR_NICS);
    return rc < 0 ? rc : 0;
}

/* What the job is not to have here because of what earlier jobs left. One that has it already keeps
 * it, whatever they do. */
static int check_earlier(const struct node *node, const struct claim *claim,
                         const struct note *before, struct error *err)
{
    if (before->claim.number == claim->number && before->state == NOTE_MADE &&
        note_is_current(before))
        return 0;
    /* The old job's processes could reach the new job (I3). The broker gives out such a VNI only
     * after a report that nothing is left, or after [vni] hold. */
    const struct note *other = notes_lingering_with(&node->notes, claim);
    if (other)
        return error_set(err, ERROR_FULL,
                         "a VNI of the job is still in use here, by what is left of job %s; run "
                         "the job again, which gets others",
                         other->claim.name);
    return remainder_check(&node->notes, &node->nics, claim, err);
}

/* What must be so before anything is made. before: the note of an earlier run, if any; order gets
 * what the services are to be. 0, negative; or 1: the node has no NICs, and needs none. */
static int prepare_order(struct node *node, uint32_t cores, const struct note *before,
                         struct service_order *order, struct error *err)
{
    const struct claim *claim = order->claim;
    order->exact = !node->settings.adjust_limits;
    limits_want(&node->settings.limits, cores, &order->want);
    int rc = node_find_nics(node, err);
    if (rc == 0)
        rc = check_nics(node, err);
    if (rc == 0 && !(order->traffic_classes = choose_classes(node, claim, err)))
        rc = ERROR_FULL;
    if (rc == 0 && node->nics.count == 0)
        return 1;
    return rc < 0 ? rc : check_earlier(node, claim, before, err);
}

int jobsvc_create(struct node *node, const struct claim *claim, uint32_t cores, struct note *note,
                  struct error *err)
{
    struct note before = {0};
    struct error why;
    struct search search = {.node = node, .claim = claim};
    struct service_order order = {.claim = claim, .is_there = service_is_of_claim, .arg = &search};
    /* Of a start of the machine before this one nothing is there any more. */
    bool known = note_read(&node->dir, claim->number, &before, NULL) == 0 &&
                 note_is_current(&before) && before.state != NOTE_GONE;
    jobsvc_intend(node, claim, note);
    if (before.order > note->order)
        note->order = before.order;
    int rc = claim_check_vnis(claim, &node->settings.vnis, err);
    if (rc < 0 || jobsvc_is_of_another(node, claim, err))
        return err->code; /* nor is anything destroyed for such a reservation */
    if ((rc = prepare_order(node, cores, &before, &order, err)) > 0)
        return 0;
    if (rc == 0 && (rc = note_write(&node->dir, note, err)) == 0) {
        known = true;
        rc = create_all(node, &order, note, err);
    }
    if (rc == 0) {
        note->state = NOTE_MADE;
        traffic_begin(node, note, &before);
        if (node->settings.report && claim->launched_s == 0)
            note_owe(note);
        rc = note_write(&node->dir, note, err);
    }
    if (rc < 0 && known) {
        /* What an earlier run has made is half of it too. */
        if (note->service_count == 0 && before.claim.number == claim->number) {
            note->service_count = before.service_count;
            memcpy(note->services, before.services, sizeof note->services);
        }
        /* Why it had to be undone is what err goes on saying. That nothing is left is not reported:
         * this prolog may run again, and be killed before it reports what it made (I1). The epilog
         * reports. */
        if (jobsvc_destroy(node, note, &(struct jobsvc_end){.known = true, .undo = true}, &why) < 0)
            say("%s", why.text);
    }
    return rc;
}

int jobsvc_plan_create(struct node *node, const struct claim *claim, uint32_t cores,
                       struct error *err)
{
    struct note before = {0};
    struct search search = {.node = node, .claim = claim};
    struct service_order order = {
        .claim = claim, .is_there = service_is_of_claim, .arg = &search, .plan = true};
    (void)note_read(&node->dir, claim->number, &before, NULL);
    int rc = claim_check_vnis(claim, &node->settings.vnis, err);
    if (rc == 0)
        rc = prepare_order(node, cores, &before, &order, err);
    if (rc == 0)
        rc = create_all(node, &order, NULL, err);
    return rc < 0 ? rc : 0;
}

int jobsvc_plan_destroy(struct node *node, const struct note *note, struct error *err)
{
    struct search search = {.node = node, .claim = &note->claim};
    int rc = note_is_current(note) ? node_find_nics(node, err) : 0;
    if (rc == 0 && note_is_current(note))
        (void)services_count(&node->nics, service_is_of_claim, &search, true, note->claim.name);
    return rc;
}
