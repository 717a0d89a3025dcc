#include "node/remainder.h"

#include "node/command.h"
#include "node/life.h"
#include "node/report.h"
#include "node/say.h"

#include <stdlib.h>
#include <string.h>

static const char between[] = ", \t\n";

bool remainder_users_valid(const char *users)
{
    return strspn(users, "0123456789, \t\n") == strlen(users);
}

static bool has_job(const char *users, uint32_t uid)
{
    char *end;
    for (const char *at = users + strspn(users, between); *at; at = end + strspn(end, between)) {
        if (strtoul(at, &end, 10) == uid)
            return true;
    }
    return false;
}

int remainder_judge(struct node *node, const struct note *note)
{
    char name[CLAIM_NAME_SIZE];
    struct notes now;
    struct error err;
    if (note->stuck)
        return COMMAND_BUSY;
    /* Jobs have come and gone while it was tried. */
    if (notes_load(&now, &node->dir, &err) < 0) {
        say("%s", err.text);
        return COMMAND_BUSY;
    }
    const struct note *other = notes_other_of_owner(&now, note);
    bool excused = other || (node->users && has_job(node->users, note->claim.uid));
    claim_name(&note->claim, name);
    if (other) {
        char theirs[CLAIM_NAME_SIZE];
        say("what job %s left may be used by job %s, as uid %u has both: it is tried again, and "
            "its VNIs are held back until it is gone",
            name, claim_name(&other->claim, theirs), note->claim.uid);
    } else if (excused) {
        say("what job %s left may be used by another job of uid %u: it is tried again, and its "
            "VNIs are held back until it is gone",
            name, note->claim.uid);
    }
    notes_release(&now);
    return excused ? COMMAND_IN_USE : COMMAND_BUSY;
}

/* One life's. The caller has its lock. */
static int retry(struct node *node, uint64_t number)
{
    struct note note;
    struct error err;
    struct mcast_error error;
    if (note_read(&node->dir, number, &note, NULL) < 0 || note.state != NOTE_LINGERING ||
        note.postponed)
        return COMMAND_DONE; /* somebody has seen to it since it was listed */
    if (life_destroy(node, &note, true, 0, &err) < 0)
        return command_failed(&err);
    if (report_send(node, &note, &error) == REPORT_KEPT)
        report_say_kept(&note, &error);
    return note.state == NOTE_LINGERING ? remainder_judge(node, &note) : COMMAND_DONE;
}

int remainder_retry(struct node *node)
{
    int rc = COMMAND_DONE;
    for (size_t i = 0; i < node->notes.count; i++) {
        struct note *note = &node->notes.at[i];
        if (note->state != NOTE_LINGERING || note->postponed || !note_is_current(note) ||
            !life_try_lock(node, &note->claim))
            continue;
        int one = retry(node, note->claim.number);
        life_unlock(node, &note->claim);
        note->owed = false; /* it has had its turn */
        if (rc != COMMAND_BUSY && one != COMMAND_DONE)
            rc = one;
    }
    return rc;
}
