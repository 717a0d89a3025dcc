# SPDX-License-Identifier: Apache-2.0
"""What went wrong: the broker's or libmcast's sentence, with cause and next step."""
from .cdecl import CONSTANTS


class Error(Exception):
    """str() is one sentence. word: a stable word (mcast.h, struct mcast_error); status: of HTTP, 0
    without an answer; field: of the request that was refused, or ""; retry_after: seconds that the
    broker wants to be left alone for; later: "not now", so the same request may work later."""

    def __init__(self, text, word="", status=0, field="", retry_after=0, later=False):
        Exception.__init__(self, text)
        self.word, self.status, self.field = word, status, field
        self.retry_after, self.later = retry_after, later


class Refused(Error):
    """The broker said no."""


class UsageError(Error, ValueError):
    """An argument is not allowed; nothing was sent."""


class NotFound(Error, LookupError):
    """The broker knows no such job, or not for the caller."""


class NoAnswer(Error):
    """No answer that can be trusted: Unreachable or Unclear."""


class Unreachable(NoAnswer):
    """No connection, a connection that broke, or no answer in time."""


class Unclear(NoAnswer):
    """What answered is not mcastd, or of another version."""


class OutOfMemory(Error, MemoryError):
    """libmcast could not allocate."""


class Stopped(Error):
    """The broker's handle was closed meanwhile."""


KINDS = {CONSTANTS["MCAST_REFUSED"]: Refused, CONSTANTS["MCAST_USAGE"]: UsageError,
         CONSTANTS["MCAST_NOT_FOUND"]: NotFound, CONSTANTS["MCAST_UNREACHABLE"]: Unreachable,
         CONSTANTS["MCAST_UNCLEAR"]: Unclear, CONSTANTS["MCAST_NOMEM"]: OutOfMemory,
         CONSTANTS["MCAST_STOPPED"]: Stopped}


def raise_error(error):
    from .library import lib
    kind = KINDS.get(error.code, Error)
    raise kind(error.text.decode("utf-8", "replace"), error.word.decode(), error.status,
               error.field.decode("utf-8", "replace"), error.retry_after,
               bool(lib().mcast_later(error, None)))
