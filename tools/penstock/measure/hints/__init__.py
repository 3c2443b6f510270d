"""hints: every MPI-IO hint known, from the tables beside this file, and which of them have an effect here."""
