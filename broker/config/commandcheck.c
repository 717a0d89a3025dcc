#include "broker/config/commandcheck.h"

#include "trust/trustedpath.h"

#include <stddef.h>

void commandcheck_look(struct config_reading *reading)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    ptrdiff_t row = config_key_find("cluster", "list_command") - keys;
    for (uint32_t i = 0; i < reading->config->core.cluster_count; i++) {
        char *const *words = reading->config->clusters[i].list_command;
        struct error err = {0};
        int rc = words != NULL ? trustedcommand_check(words, &err) : 0;
        if (rc == ERROR_REFUSED)
            config_fault(reading, true, &reading->cluster_origins[i][row], "list_command: %s",
                         err.text);
        else if (rc < 0)
            config_fault(reading, false, &reading->cluster_origins[i][row],
                         "list_command: %s; until that is mended, jobs whose end was missed are "
                         "not found",
                         err.text);
    }
}
