/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What this node made for a job: written as an intent before the first service is made, so that
 * whatever dies, it is known what may be there; and as the report that the broker is owed, until it
 * has it. One file for each reservation, "<number>.json". A later state replaces an earlier one
 * that could not be delivered: the broker gets the current state only (F3). */

#include "node/record/statedir.h"
#include "node/record/traffic.h"
#include "node/services/claim.h"
#include "node/services/nic.h"

#include <stddef.h>

enum note_state {
    NOTE_INTENDED,  /* services are being made; some may be there */
    NOTE_MADE,      /* one on every NIC */
    NOTE_LINGERING, /* some could not be destroyed */
    NOTE_GONE,      /* none is left; kept for the report only */
};

enum { NOTE_SERVICES_MAX = NIC_MAX, NOTE_NODE_SIZE = 256 };

struct note {
    struct claim claim; /* what matching needs; nodes, cores and traffic classes are not kept */
    char node[NOTE_NODE_SIZE];
    char boot[STATEDIR_BOOT_SIZE]; /* services do not survive a start of the machine */
    enum note_state state;
    bool owed;           /* the state is not reported yet */
    bool postponed;      /* lingering, and its own housekeeping is to come */
    bool stuck;          /* lingering, and not only because it is in use; not kept */
    uint64_t order;      /* grows with each state to report, even if the folder was lost between */
    unsigned int tries;  /* lingering: how often it was tried to destroy it, in vain */
    int64_t tried_ms;    /* and when, the last time, by note_clock_ms */
    int64_t reported_ms; /* lingering: when that was reported */
    unsigned int service_count;
    struct service_place services[NOTE_SERVICES_MAX];
    struct traffic traffic;
};

/* "created"; NULL: nothing to report. */
const char *note_report_word(enum note_state state);

/* The state is to be reported, as newer than all earlier ones. */
void note_owe(struct note *note);

/* The time since boot, CLOCK_BOOTTIME. */
int64_t note_clock_ms(void);

/* It was tried in vain. */
void note_tried(struct note *note, int64_t now_ms);

/* Whether it was reported as lingering, and recently: the broker may have lost its ledger. */
bool note_is_reported(const struct note *note, int64_t now_ms);

/* Whether it is time to try again in a hook of another job: with growing pauses, up to an hour. */
bool note_is_due(const struct note *note, int64_t now_ms);

/* Whether it was written since the machine was started. */
bool note_is_current(const struct note *note);

/* ERROR_NOT_FOUND; ERROR_CORRUPT: not written by this program, or damaged; ERROR_IO. */
int note_read(const struct statedir *dir, uint64_t number, struct note *note, struct error *err);
/* Removes it when nothing is left, nor to be reported. */
int note_write(const struct statedir *dir, const struct note *note, struct error *err);
/* The name of the file that says that its job has met another one here (traffic.c); it goes with
 * the note. */
enum { NOTE_SHARED_SIZE = 32 };
const char *note_shared_name(char out[static NOTE_SHARED_SIZE], uint64_t number);
int note_remove(const struct statedir *dir, uint64_t number, struct error *err);

/* As text, for free(), NULL: a name is not UTF-8; and back: 0, or ERROR_CORRUPT and an empty note.
 */
char *note_format(const struct note *note);
int note_parse(struct note *note, const char *text, struct error *err);

struct notes {
    size_t count;
    struct note *at; /* by number */
    size_t damaged;  /* files that could not be read, left out */
    char damaged_name[32];
};

/* All of the directory. ERROR_IO. */
int notes_load(struct notes *notes, const struct statedir *dir, struct error *err);
void notes_release(struct notes *notes);

/* Whose service it is, by the notes of this boot that are not gone; or NULL. */
const struct note *notes_holder(const struct notes *notes, const char *device, unsigned int id);

/* Another reservation of which its owner has services here now, or is about to; or NULL. */
const struct note *notes_other_of_owner(const struct notes *notes, const struct note *note);

/* What lingers here of another reservation and has one of the claim's VNIs; or NULL. */
const struct note *notes_lingering_with(const struct notes *notes, const struct claim *claim);

/* A job's newest reservation; cluster NULL: of any cluster. Or NULL. */
const struct note *notes_newest(const struct notes *notes, const char *cluster, const char *job);

/* When the machine was booted, by its clock: milliseconds since 1970. */
int64_t boot_time_ms(void);

/* The position of this boot in the order of the node's reports to the broker (F3): later than all
 * reports before it, and earlier than all since. It is drawn by the first command of a boot, and
 * kept in the file "boot" of the spool. */
struct boot {
    uint64_t order; /* 0: not known */
    bool owed;      /* it is to be reported, and has not been */
};

/* This boot's, which is drawn if need be; the folder can be changed. 0, or negative. */
int boot_open(struct boot *boot, const struct statedir *dir, const struct notes *notes,
              struct error *err);
int boot_write(const struct statedir *dir, const struct boot *boot, struct error *err);
