"""catalogue: what is in the files of a folder, kept in SQLite and searched by attribute."""
