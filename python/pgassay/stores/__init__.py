"""Runs in object stores: any URL that fsspec can open, such as s3://bucket/folder/RUN.

Decisions of this room:

- A run is read from a copy on this machine and carried out in a working copy, so that the rest of
  the package knows paths only. Both lie in folders named after the URL: copies below the user's
  cache, which may be removed at any time; working copies below the user's data, because they hold
  the undo of what the run has changed.
- A copy is checked against the store's listing each time: a file whose size, date or ETag differs
  is fetched anew, one that is gone is removed. So a run that is still going on is shown as the
  store has it now.
- Copies that nobody has read for 30 days are removed when a store is read, once a day at most.
- Objects are put in an order in which a reader never sees a trial without its samples, or an
  analysis before its trials. They are put there between trials; those of other servers of a fleet
  go on meanwhile.
- Credentials, endpoints and retries are the library's business. A URL that holds a password is
  refused.
- fsspec and what it loads is imported where a store is opened, and nowhere else.
"""
