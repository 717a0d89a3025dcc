/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/note.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char suffix[] = ".json";
enum { NAME_SIZE = 32 };

/* Between two tries of what lingers; doubled with each. */
enum {
    PAUSE_FIRST_MS = 30 * 1000,
    PAUSE_LONGEST_MS = 3600 * 1000,
    REPORTED_FOR_MS = 3600 * 1000,
    TRIES_COUNTED_MAX = 1000
};

/* By enum note_state: in the file, in the report to the broker. */
static const struct {
    const char *word, *report;
} states[] = {
    {"intended", NULL}, {"made", "created"}, {"lingering", "lingering"}, {"gone", "destroyed"}};

const char *note_report_word(enum note_state state)
{
    return states[state].report;
}

static bool state_from_word(const char *word, enum note_state *out)
{
    *out = NOTE_INTENDED;
    while (*out <= NOTE_GONE && strcmp(states[*out].word, word) != 0)
        ++*out;
    return *out <= NOTE_GONE;
}

static int64_t read_clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* By the clock, so that it goes on where a note that is no longer there had stopped. */
void note_owe(struct note *note)
{
    uint64_t now_ms = (uint64_t)read_clock_ms(CLOCK_REALTIME);
    note->owed = true;
    note->order = now_ms > note->order ? now_ms : note->order + 1;
}

int64_t note_clock_ms(void)
{
    return read_clock_ms(CLOCK_BOOTTIME);
}

void note_tried(struct note *note, int64_t now_ms)
{
    if (note->tries < TRIES_COUNTED_MAX)
        note->tries++;
    note->tried_ms = now_ms;
}

bool note_is_reported(const struct note *note, int64_t now_ms)
{
    return note->state == NOTE_LINGERING && !note->owed && !note->postponed &&
           now_ms - note->reported_ms < REPORTED_FOR_MS;
}

bool note_is_due(const struct note *note, int64_t now_ms)
{
    int64_t pause = note->tries == 0 ? 0 : PAUSE_FIRST_MS;
    for (unsigned int i = 1; i < note->tries && pause < PAUSE_LONGEST_MS; i++)
        pause = pause < PAUSE_LONGEST_MS / 2 ? pause * 2 : PAUSE_LONGEST_MS;
    return pause == 0 || now_ms - note->tried_ms >= pause;
}

bool note_is_current(const struct note *note)
{
    return strcmp(note->boot, statedir_boot()) == 0;
}

/* ---- As JSON ---- */

/* For free(); NULL: a text in it is not UTF-8. */
static char *dump_json(json_t *root)
{
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    return text;
}

static json_t *format_services(const struct note *note)
{
    json_t *list = json_array();
    for (unsigned int i = 0; i < note->service_count; i++)
        json_array_append_new(list, json_pack("{s:s,s:I}", "device", note->services[i].device, "id",
                                              (json_int_t)note->services[i].id));
    return list;
}

char *note_format(const struct note *note)
{
    const struct claim *claim = &note->claim;
    json_t *vnis = json_array();
    for (unsigned int i = 0; i < claim->vni_count; i++)
        json_array_append_new(vnis, json_integer(claim->vnis[i]));
    return dump_json(
        json_pack("{s:s,s:s,s:I,s:I,s:I,s:o,s:i,s:s,s:s,s:s,s:b,s:b,s:I,s:I,s:I,s:I,s:o,s:o*}",
                  "cluster", claim->cluster, "job", claim->job, "number", (json_int_t)claim->number,
                  "uid", (json_int_t)claim->uid, "launched", (json_int_t)claim->launched_until_s,
                  "vnis", vnis, "vnis_shared", (int)claim->shared_count, "node", note->node, "boot",
                  note->boot, "state", states[note->state].word, "owed", note->owed, "postponed",
                  note->postponed, "order", (json_int_t)note->order, "tries",
                  (json_int_t)note->tries, "tried", (json_int_t)note->tried_ms, "told",
                  (json_int_t)note->reported_ms, "services", format_services(note), "traffic",
                  note->traffic.begun ? traffic_format(&note->traffic) : NULL));
}

static bool copy_text(char *out, size_t size, const char *text)
{
    return (size_t)snprintf(out, size, "%s", text) < size;
}

/* shared: which older notes have not. */
static bool read_vnis(struct claim *claim, const json_t *list, const json_t *shared)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > CXI_SVC_MAX_VNIS)
        return false;
    for (size_t i = 0; i < count; i++) {
        json_int_t vni = json_integer_value(json_array_get(list, i));
        if (!json_is_integer(json_array_get(list, i)) || vni < 0 || vni > UINT16_MAX)
            return false;
        claim->vnis[claim->vni_count++] = (uint16_t)vni;
    }
    claim_set_shared(claim, json_integer_value(shared));
    return true;
}

static bool read_services(struct note *note, json_t *list)
{
    if (!json_is_array(list) || json_array_size(list) > NOTE_SERVICES_MAX)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct service_place *service = &note->services[note->service_count++];
        const char *device;
        json_int_t id;
        if (json_unpack(json_array_get(list, i), "{s:s,s:I}", "device", &device, "id", &id) < 0 ||
            !copy_text(service->device, sizeof service->device, device) || id < 1 ||
            id > UINT32_MAX)
            return false;
        service->id = (unsigned int)id;
    }
    return true;
}

static bool read_note(struct note *note, json_t *root)
{
    struct claim *claim = &note->claim;
    const char *cluster, *job, *node, *boot, *state;
    json_int_t number, uid, order;
    json_t *vnis, *services;
    int owed, postponed = 0; /* which older notes have not, as what follows */
    json_int_t launched_s = 0, tries = 0, tried_ms = 0, reported_ms = 0;
    if (json_unpack(root, "{s:s,s:s,s:I,s:I,s?I,s:o,s:s,s:s,s:s,s:b,s?b,s:I,s?I,s?I,s?I,s:o}",
                    "cluster", &cluster, "job", &job, "number", &number, "uid", &uid, "launched",
                    &launched_s, "vnis", &vnis, "node", &node, "boot", &boot, "state", &state,
                    "owed", &owed, "postponed", &postponed, "order", &order, "tries", &tries,
                    "tried", &tried_ms, "told", &reported_ms, "services", &services) < 0)
        return false;
    if (!cluster_name_valid(cluster) || !job_id_valid(job) || number < 1 || uid < 0 ||
        uid >= UINT32_MAX || launched_s < 0 || order < 0 || tries < 0 ||
        tries > TRIES_COUNTED_MAX || tried_ms < 0 || !state_from_word(state, &note->state))
        return false;
    claim->number = (uint64_t)number;
    claim->uid = (uint32_t)uid;
    claim->launched_until_s = launched_s;
    claim->active = true;
    note->owed = owed;
    note->postponed = postponed;
    note->order = (uint64_t)order;
    note->tries = (unsigned int)tries;
    note->tried_ms = tried_ms;
    note->reported_ms = reported_ms;
    traffic_parse(&note->traffic, json_object_get(root, "traffic"));
    claim_set_name(claim, cluster, job);
    return copy_text(note->node, sizeof note->node, node) &&
           copy_text(note->boot, sizeof note->boot, boot) &&
           read_vnis(claim, vnis, json_object_get(root, "vnis_shared")) &&
           read_services(note, services);
}

int note_parse(struct note *note, const char *text, struct error *err)
{
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    *note = (struct note){0};
    bool good = root && read_note(note, root);
    json_decref(root);
    if (good)
        return 0;
    *note = (struct note){0};
    return error_set(err, ERROR_CORRUPT, "it is not what mcast-node writes");
}

/* ---- Files ---- */

static const char *name_of(char out[NAME_SIZE], uint64_t number)
{
    snprintf(out, NAME_SIZE, "%llu%s", (unsigned long long)number, suffix);
    return out;
}

static int read_named(const struct statedir *dir, const char *name, struct note *note,
                      struct error *err)
{
    char *text = NULL;
    int rc = statedir_read(dir, name, &text, err);
    if (rc < 0)
        return rc;
    if (text[0] == '\0') /* the machine went down: nothing of it is here */
        rc = error_set(err, ERROR_NOT_FOUND, "%s is empty", name);
    else
        rc = note_parse(note, text, err);
    free(text);
    return rc;
}

int note_read(const struct statedir *dir, uint64_t number, struct note *note, struct error *err)
{
    char name[NAME_SIZE];
    return read_named(dir, name_of(name, number), note, err);
}

/* text is freed; NULL: it could not be put in JSON. */
static int write_text(const struct statedir *dir, const char *name, char *text, struct error *err)
{
    int rc = text ? statedir_write(dir, name, text, err)
                  : error_set(err, ERROR_INVALID, "%s: a name in it is not UTF-8", name);
    free(text);
    return rc;
}

int note_write(const struct statedir *dir, const struct note *note, struct error *err)
{
    char name[NAME_SIZE];
    if (note->state == NOTE_GONE && !note->owed)
        return note_remove(dir, note->claim.number, err);
    return write_text(dir, name_of(name, note->claim.number), note_format(note), err);
}

const char *note_shared_name(char out[static NOTE_SHARED_SIZE], uint64_t number)
{
    snprintf(out, NOTE_SHARED_SIZE, "%llu.shared", (unsigned long long)number);
    return out;
}

int note_remove(const struct statedir *dir, uint64_t number, struct error *err)
{
    char name[NAME_SIZE], shared[NOTE_SHARED_SIZE];
    const int rc = statedir_remove(dir, name_of(name, number), err);
    /* After it: who marks looks for the note then (traffic.c). */
    (void)statedir_remove(dir, note_shared_name(shared, number), NULL);
    return rc;
}

static int is_note(const struct dirent *file)
{
    size_t digits = strspn(file->d_name, "0123456789");
    return digits > 0 && digits < NAME_SIZE - sizeof suffix &&
           strcmp(file->d_name + digits, suffix) == 0;
}

static int load_note(struct notes *notes, const struct statedir *dir, const char *name,
                     struct error *err)
{
    int rc = read_named(dir, name, &notes->at[notes->count], err);
    if (rc == 0) {
        notes->count++;
    } else if (rc == ERROR_CORRUPT) {
        notes->damaged++;
        snprintf(notes->damaged_name, sizeof notes->damaged_name, "%.31s", name);
    }
    /* A file that is gone meanwhile was removed by another process. */
    return rc == ERROR_CORRUPT || rc == ERROR_NOT_FOUND ? 0 : rc;
}

int notes_load(struct notes *notes, const struct statedir *dir, struct error *err)
{
    *notes = (struct notes){0};
    if (dir->directory < 0)
        return 0;
    struct dirent **files; /* by number */
    int count = scandirat(dir->directory, ".", &files, is_note, versionsort);
    if (count < 0)
        return error_set(err, ERROR_IO, "%s: it cannot be read: %s", dir->path, strerror(errno));
    notes->at = memory_zeroed(((size_t)count + 1) * sizeof *notes->at);
    int rc = 0;
    for (int i = 0; i < count; i++) {
        if (rc == 0)
            rc = load_note(notes, dir, files[i]->d_name, err);
        free(files[i]);
    }
    free(files);
    if (rc < 0)
        notes_release(notes);
    return rc;
}

void notes_release(struct notes *notes)
{
    free(notes->at);
    *notes = (struct notes){0};
}

const struct note *notes_holder(const struct notes *notes, const char *device, unsigned int id)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->at[i];
        if (note->state == NOTE_GONE || !note_is_current(note))
            continue;
        for (unsigned int s = 0; s < note->service_count; s++) {
            if (note->services[s].id == id && strcmp(note->services[s].device, device) == 0)
                return note;
        }
    }
    return NULL;
}

/* Of before the start of the machine nothing is here any more. */
static bool is_another(const struct note *other, uint64_t number)
{
    return other->claim.number != number && note_is_current(other);
}

const struct note *notes_other_of_owner(const struct notes *notes, const struct note *note)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *other = &notes->at[i];
        if (is_another(other, note->claim.number) && other->claim.uid == note->claim.uid &&
            (other->state == NOTE_MADE || other->state == NOTE_INTENDED))
            return other;
    }
    return NULL;
}

/* One that both are told to share is no trespass: jobs that run have it together (B1). */
static bool have_one_vni(const struct claim *a, const struct claim *b)
{
    const unsigned int own_a = a->vni_count - a->shared_count;
    const unsigned int own_b = b->vni_count - b->shared_count;
    for (unsigned int i = 0; i < a->vni_count; i++) {
        for (unsigned int k = 0; k < b->vni_count; k++) {
            if ((i < own_a || k < own_b) && a->vnis[i] == b->vnis[k])
                return true;
        }
    }
    return false;
}

const struct note *notes_lingering_with(const struct notes *notes, const struct claim *claim)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *other = &notes->at[i];
        if (is_another(other, claim->number) && other->state == NOTE_LINGERING &&
            have_one_vni(&other->claim, claim))
            return other;
    }
    return NULL;
}

const struct note *notes_newest(const struct notes *notes, const char *cluster, const char *job)
{
    for (size_t i = notes->count; i > 0; i--) {
        const struct note *note = &notes->at[i - 1];
        if (strcmp(note->claim.job, job) == 0 &&
            (!cluster || strcmp(note->claim.cluster, cluster) == 0))
            return note;
    }
    return NULL;
}

/* ---- The boot ---- */

static const char boot_file[] = "boot";

int64_t boot_time_ms(void)
{
    return read_clock_ms(CLOCK_REALTIME) - note_clock_ms();
}

/* started_ms: boot_time_ms. The clock may have been wrong, so notes of before and since count for
 * more. */
static uint64_t boot_order(const struct notes *notes, int64_t started_ms)
{
    uint64_t order = started_ms > 0 ? (uint64_t)started_ms : 1, latest = UINT64_MAX;
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->at[i];
        bool current = note_is_current(note);
        if (!current && note->order >= order)
            order = note->order + 1;
        if (current && note->order > 0 && note->order <= latest)
            latest = note->order - 1; /* of what is here now, nothing must be taken for over */
    }
    order = order < latest ? order : latest;
    return order > 0 ? order : 1;
}

/* Whether it is there and of this boot. */
static bool boot_read(struct boot *boot, const struct statedir *dir)
{
    char *text = NULL;
    const char *id;
    json_int_t order;
    int owed;
    *boot = (struct boot){.order = 0};
    if (statedir_read(dir, boot_file, &text, NULL) < 0)
        return false;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool good =
        json_unpack(root, "{s:s,s:I,s:b}", "boot", &id, "order", &order, "owed", &owed) == 0 &&
        strcmp(id, statedir_boot()) == 0 && order > 0;
    if (good)
        *boot = (struct boot){.order = (uint64_t)order, .owed = owed};
    json_decref(root);
    free(text);
    return good;
}

int boot_write(const struct statedir *dir, const struct boot *boot, struct error *err)
{
    json_t *root = json_pack("{s:s,s:I,s:b}", "boot", statedir_boot(), "order",
                             (json_int_t)boot->order, "owed", boot->owed);
    return write_text(dir, boot_file, dump_json(root), err);
}

/* Notes, which only a start of the machine empties. Later, a new one may be in an empty one's place
 * by the time that it is removed. */
static void remove_empty(const struct statedir *dir)
{
    struct dirent **files;
    struct stat status;
    const int count = scandirat(dir->directory, ".", &files, is_note, NULL);
    for (int i = 0; i < count; i++) {
        const char *name = files[i]->d_name;
        if (fstatat(dir->directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_size == 0)
            (void)statedir_remove(dir, name, NULL);
        free(files[i]);
    }
    if (count >= 0)
        free(files);
}

int boot_open(struct boot *boot, const struct statedir *dir, const struct notes *notes,
              struct error *err)
{
    if (boot_read(boot, dir))
        return 0;
    /* Several commands may be the first ones. */
    int rc = statedir_lock(dir, STATEDIR_BOOT, err);
    if (rc == 0 && !boot_read(boot, dir)) { /* so no process has written a note since the boot */
        remove_empty(dir);
        boot->order = boot_order(notes, boot_time_ms());
        rc = boot_write(dir, boot, err);
    }
    statedir_unlock(dir, STATEDIR_BOOT);
    return rc;
}
