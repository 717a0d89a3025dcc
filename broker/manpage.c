/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/options.h"

#include "base/roff.h"

#include <stddef.h>

static void print_options(FILE *out)
{
    size_t count;
    const struct options_row *rows = options_rows(&count);
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < count && rows[i].sentence != NULL; i++) {
        const char *value = rows[i].value;
        fputs(".TP\n.B ", out);
        roff_text(out, "--");
        roff_text(out, rows[i].name);
        if (value != NULL && value[0] == '[')
            fprintf(out, "[=%s", value + 1);
        else if (value != NULL)
            fprintf(out, " %s", value);
        fputc('\n', out);
        roff_text(out, rows[i].sentence);
        fputs(".\n", out);
    }
    fputs(".PP\nWithout USER it is the owner of the folder of the ledger,\n"
          ".BR \"[state] path\" .\nRoot checks the configuration as that user, because root may "
          "read everything.\n",
          out);
}

static const char head[] =
    ".SH NAME\n"
    "mcastd \\- gives VNIs and multicast addresses of HPE Slingshot to jobs\n"
    ".SH SYNOPSIS\n"
    ".B mcastd\n"
    ".RI [ option ]...\n"
    ".SH DESCRIPTION\n"
    "Reserves multicast addresses (hardware collectives) at the fabric manager for the jobs of "
    "any\n"
    "resource manager, together with VNIs from a pool of its own, and takes both back when jobs\n"
    "end: through crashes, lost connections and restarts. Everything that is acknowledged is on\n"
    "disk first. Resource managers,\n"
    ".BR mcastctl (1)\n"
    "and hooks ask over a Unix socket, and over TCP if it is configured.\n";

static const char tail[] =
    ".SH SIGNALS\n"
    ".TP\n"
    ".BR SIGTERM \", \" SIGINT\n"
    "Takes no more requests, answers and saves what was accepted, and ends. A second one ends it "
    "at\n"
    "once, as a crash would: nothing acknowledged is lost.\n"
    ".TP\n"
    ".B SIGHUP\n"
    "Reads the configuration again, with certificates, keys and logins. All of it is applied, or\n"
    "nothing; the log says which keys changed, or why nothing did. The keys that need a restart "
    "are\n"
    "listed in\n"
    ".BR mcastd.conf (5).\n"
    "Requests in progress are not disturbed; calls of the fabric manager end where they began.\n"
    ".SH EXIT STATUS\n"
    ".TP\n"
    ".B 0\n"
    "Stopped.\n"
    ".TP\n"
    ".B 1\n"
    "It cannot start; with\n"
    ".BR \\-\\-check ,\n"
    "something is wrong.\n"
    ".TP\n"
    ".B 64\n"
    "Wrong usage.\n"
    ".TP\n"
    ".B 75\n"
    "Kept for stores that several brokers share, of which there is none yet.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".B NOTIFY_SOCKET\n"
    "The service manager's socket, for what\n"
    ".BR sd_notify (3)\n"
    "describes: READY, RELOADING, STOPPING, a status line, and requests for more time while a "
    "large\n"
    "ledger is recovered.\n"
    ".TP\n"
    ".BR WATCHDOG_USEC \", \" WATCHDOG_PID\n"
    "How often it must say that its loop turns.\n"
    ".TP\n"
    ".B JOURNAL_STREAM\n"
    "When standard error is the journal, messages have the fields MCASTD_EVENT, MCASTD_CLUSTER,\n"
    "MCASTD_JOB and MCASTD_VNI, as in\n"
    ".BR \"journalctl \\-u mcastd MCASTD_JOB=f2Rs8\" .\n"
    ".SH FILES\n"
    ".TP\n"
    ".IR /etc/mcastd/mcastd.conf \", \" /etc/mcastd/conf.d/*.conf\n"
    "The configuration.\n"
    ".TP\n"
    ".I /etc/mcastd/state.key\n"
    "Seals the secrets in the ledger. Of the service's user, mode 0600.\n"
    ".TP\n"
    ".I /var/lib/mcastd/state.db\n"
    "The ledger, with its companions\n"
    ".I \\-wal\n"
    "and\n"
    ".IR \\-shm .\n"
    ".TP\n"
    ".I /run/mcastd/mcastd.sock\n"
    "Where it is asked.\n"
    ".SH NOTES\n"
    "Its memory holds the session tokens of jobs, so it leaves no core dump and lets no other\n"
    "process of its user look in.\n"
    ".SH EXAMPLES\n"
    ".EX\n"
    "mcastd \\-\\-sample\\-config > /etc/mcastd/mcastd.conf\n"
    "mcastd \\-\\-check && systemctl reload mcastd\n"
    ".EE\n"
    ".SH SEE ALSO\n"
    ".BR mcastd.conf (5),\n"
    ".BR mcastctl (1),\n"
    ".BR systemctl (1)\n";

void manpage_print(FILE *out)
{
    roff_title(out, "MCASTD", 8);
    fputs(head, out);
    print_options(out);
    fputs(tail, out);
}
