/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/disk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Plays a story to the core, step by step, with the modelled disk beside it, and keeps what each
 * step led to as lines of text:
 *
 *   save 1 active wanted maybe        answer created 1 [1024]      call reserve elcap-17 23
 *   save 1 gone                       event lost 1                 login | list
 *   trace: fabric manager lists …
 *
 * said() looks at the last step only. */

enum { SCRIPT_TEXT_MAX = 65536, SCRIPT_CALLS_MAX = 64 };

struct script {
    struct core_config config;
    struct core *core;
    struct disk disk;
    int64_t now_ms;
    uint64_t ticket, list, commits;
    const char *token; /* that the fabric manager gives: "session-token" at first */
    struct {
        uint64_t id;
        char text[200]; /* "reserve elcap-17" */
    } calls[SCRIPT_CALLS_MAX];
    size_t call_count;
    char text[SCRIPT_TEXT_MAX]; /* of the last step */
    size_t length;
};

/* A pool of 1024-1031, VNIs held for 10 s, clusters elcap and elcap2, jobs of 64 nodes and more get
 * 23 addresses. Change config, then boot. */
void script_init(struct script *script);
void script_release(struct script *script);

void script_boot(struct script *script);  /* from what is on disk */
void script_crash(struct script *script); /* only the disk is left */

void script_reserve(struct script *script, const char *job, uint32_t nodes);
void script_release_job(struct script *script, const char *job);
void script_sync(struct script *script, const char *job); /* "elcap" has this one only, or none */
void script_wait(struct script *script, int64_t ms);      /* with every tick that falls due */
void script_list(struct script *script, const char *const *names, enum fmcall_outcome outcome);
/* The call "reserve elcap-17" comes back. It must be under way. */
void script_done(struct script *script, const char *call, enum fmcall_outcome outcome);
void script_configure(struct script *script, const char *pool);
/* Login and a list with these names, NULL-terminated; NULL: none. */
void script_come_up(struct script *script, const char *const *names);

bool script_said(const struct script *script, const char *text);
bool script_calling(const struct script *script, const char *call);
