#include "mock-cxi/holder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* When a process was started, in ticks since boot; 0: it is no more, or only waited for. */
static uint64_t born(int32_t pid)
{
    char path[32];
    char line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    /* proc(5): the program's name, the 2nd field, may hold anything. The 3rd is the process's
     * state, the 22nd the time. */
    const char *at = strrchr(line, ')');
    if (!at || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (int field = 2; field < 22 && at; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

static bool is_member(const struct service *service)
{
    const struct cxi_svc_desc *desc = &service->desc;
    if (!desc->restricted_members)
        return true;
    for (int i = 0; i < CXI_SVC_MAX_MEMBERS; i++)
        if ((desc->members[i].type == CXI_SVC_MEMBER_UID &&
             desc->members[i].svc_member.uid == geteuid()) ||
            (desc->members[i].type == CXI_SVC_MEMBER_GID &&
             desc->members[i].svc_member.gid == getegid()))
            return true;
    struct stat mine;
    return service->netns && stat("/proc/self/ns/net", &mine) == 0 && mine.st_ino == service->netns;
}

static struct holder *find(const struct state *state, uint32_t nic, unsigned int lni, uint32_t *at)
{
    for (*at = 0; *at < state->holders.count; ++*at) {
        struct holder *holder = rows_at(&state->holders, *at);
        if (holder->nic == nic && holder->lni == lni)
            return holder;
    }
    return NULL;
}

int holder_add(struct state *state, uint32_t nic, unsigned int service, unsigned int *lni)
{
    const struct service *used = state_service(state, nic, service);
    if (!used)
        return -EINVAL;
    if (!used->desc.enable)
        return -EKEYREVOKED;
    if (!is_member(used))
        return -EPERM;
    uint32_t at;
    unsigned int number = 1;
    while (find(state, nic, number, &at))
        number++;
    struct holder *holder = rows_insert(&state->holders, state->holders.count);
    if (!holder)
        return -ENOMEM;
    *holder = (struct holder){.nic = nic,
                              .service = service,
                              .lni = number,
                              .pid = (int32_t)getpid(),
                              .born = born((int32_t)getpid())};
    *lni = number;
    return 0;
}

int holder_remove(struct state *state, uint32_t nic, unsigned int lni)
{
    uint32_t at;
    if (!find(state, nic, lni, &at))
        return -EINVAL;
    rows_remove(&state->holders, at);
    return 0;
}

bool holder_is_busy(struct state *state, uint32_t nic, unsigned int service)
{
    bool busy = false;
    for (uint32_t i = state->holders.count; i-- > 0;) {
        const struct holder *holder = rows_at(&state->holders, i);
        if (born(holder->pid) != holder->born)
            rows_remove(&state->holders, i);
        else if (holder->nic == nic && holder->service == service)
            busy = true;
    }
    return busy;
}
