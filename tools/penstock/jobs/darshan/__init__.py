"""darshan: Darshan logs, read and written through libdarshan-util."""
