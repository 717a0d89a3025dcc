#include "cli/certfile.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DAY_S = 86400, WARNING_DAYS = 30, PROBLEM_DAYS = 7, SENTENCE_SIZE = 256 };

int certfile_ends(const char *path, time_t *end, char *why, size_t size)
{
    gnutls_datum_t text = {0};
    gnutls_x509_crt_t *certificates = NULL;
    unsigned count = 0;
    int rc = gnutls_load_file(path, &text);
    if (rc < 0) {
        snprintf(why, size, "cannot be read: %s", errno ? strerror(errno) : gnutls_strerror(rc));
        return -1;
    }
    rc = gnutls_x509_crt_list_import2(&certificates, &count, &text, GNUTLS_X509_FMT_PEM, 0);
    gnutls_free(text.data);
    if (rc < 0) {
        snprintf(why, size, "holds no certificate in PEM form (%s)", gnutls_strerror(rc));
        return -1;
    }
    for (unsigned i = 0; i < count; i++) {
        time_t one = gnutls_x509_crt_get_expiration_time(certificates[i]);
        if (i == 0 || one < *end)
            *end = one;
        gnutls_x509_crt_deinit(certificates[i]);
    }
    gnutls_free(certificates);
    return 0;
}

void certfile_judge(struct findings *findings, const char *what, const char *path, time_t now)
{
    char why[SENTENCE_SIZE];
    time_t end = 0;
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return; /* a folder of authorities: too many to be anybody's concern */
    errno = 0;
    if (certfile_ends(path, &end, why, sizeof(why)) < 0) {
        findings_addf(findings, FINDING_PROBLEM, "certificates", NULL, "%s %s %s", what, path, why);
        return;
    }
    long days = (long)((end - now) / DAY_S);
    static const char advice[] = "have it renewed, then systemctl reload mcastd";
    if (end <= now)
        findings_addf(findings, FINDING_PROBLEM, "certificates", advice,
                      "%s %s has ended, %ld days ago", what, path, -days);
    else if (days < WARNING_DAYS)
        findings_addf(findings, days < PROBLEM_DAYS ? FINDING_PROBLEM : FINDING_WARNING,
                      "certificates", advice, "%s %s ends in %ld days", what, path, days);
    else
        findings_addf(findings, FINDING_OK, "certificates", NULL, "%s %s is good for %ld days",
                      what, path, days);
}
