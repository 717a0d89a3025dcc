#include "broker/reread.h"

#include "broker/config/pathcheck.h"
#include "broker/config/settings.h"
#include "fmapi/fmapi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What there is no memory for is left out: the log is where it would have gone. */
static void keep_line(void *arg, bool fault, const char *line)
{
    struct reread *reread = arg;
    struct reread_line *lines =
        realloc(reread->lines, (reread->line_count + 1) * sizeof *reread->lines);
    char *text = strdup(line);
    if (lines != NULL)
        reread->lines = lines;
    if (lines == NULL || text == NULL) {
        free(text);
        return;
    }
    lines[reread->line_count++] = (struct reread_line){.fault = fault, .text = text};
}

static int read_config(struct reread *reread)
{
    struct config *config = config_create();
    if (config == NULL) {
        keep_line(reread, true, "memory is exhausted");
        return ERROR_NOMEM;
    }
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
