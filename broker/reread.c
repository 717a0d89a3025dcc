#include "broker/reread.h"

#include "base/memory.h"
#include "broker/config/pathcheck.h"
#include "broker/config/settings.h"
#include "fmapi/fmapi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void keep_line(void *arg, bool fault, const char *line)
{
    struct reread *reread = arg;
    reread->lines = memory_resized(reread->lines, reread->line_count + 1, sizeof *reread->lines);
    reread->lines[reread->line_count++] =
        (struct reread_line){.fault = fault, .text = memory_text(line)};
}

static int read_config(struct reread *reread)
{
    struct config *config = config_create();
    int rc = config_load_as(config, reread->path, geteuid(), pathcheck_look, keep_line, reread);
    if (rc < 0)
        config_destroy(config);
    else
        reread->config = config;
    return rc;
}

/* What it names: the login at the fabric manager, certificates, users, root keys. */
static int read_named(struct reread *reread)
{
    struct error *err = &reread->err;
    struct fmapi_options fabric;
    struct settings_http http;
    /* At the start it is only warned of; here it would end a link that works. */
    int rc = settings_fabric(reread->config, &fabric) ? fmapi_check(&fabric, err) : 0;
    if (rc < 0)
        return rc;
    settings_http(reread->config, &http);
    reread->http = http_change_read(&http.options, err);
    if (reread->http == NULL)
        return err->code;
    return keyring_read(reread->keyring, &reread->keys, err);
}

void reread_files(struct reread *reread)
{
    if (read_config(reread) < 0)
        return;
    namedfiles_look(&reread->files, reread->config);
    reread->err.code = read_named(reread);
}

void reread_release(struct reread *reread)
{
    for (size_t i = 0; i < reread->line_count; i++)
        free(reread->lines[i].text);
    free(reread->lines);
    http_change_discard(reread->http);
    rootkeys_wipe(&reread->keys);
    config_destroy(reread->config);
    *reread = (struct reread){.path = NULL};
}
