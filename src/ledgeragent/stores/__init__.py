"""Where sessions live between requests: in the process, in SQLite or in Postgres."""
