/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/user.h"
#include "base/text.h"

#include <pwd.h>
#include <stdio.h>

enum { REMEMBERED = 4096 };

const char *user_name(uint32_t uid)
{
    static struct {
        uint32_t uid;
        char name[USER_SIZE]; /* "": not looked up */
    } all[REMEMBERED], *one;
    one = &all[uid % REMEMBERED];
    if (uid == UINT32_MAX)
        return "-";
    if (one->name[0] && one->uid == uid)
        return one->name;
    const struct passwd *user = getpwuid(uid);
    one->uid = uid;
    if (user && user->pw_name[0])
        (void)snprintf(one->name, sizeof one->name, "%s", user->pw_name);
    else
        (void)snprintf(one->name, sizeof one->name, "%u", uid);
    return one->name;
}

bool user_find(const char *text, uint32_t *uid)
{
    uint64_t number = 0;
    if (text_number(text, 10, UINT32_MAX - 1, &number)) {
        *uid = (uint32_t)number;
        return true;
    }
    const struct passwd *user = getpwnam(text);
    if (user)
        *uid = user->pw_uid;
    return user;
}

int user_option(struct call *call, size_t option, uint32_t *uid)
{
    const char *value = call->given[option];
    if (!value || user_find(value, uid))
        return 0;
    return command_misused(call, "--%s: there is no user '%.80s' on this host",
                           call->command->options[option].name, value);
}
