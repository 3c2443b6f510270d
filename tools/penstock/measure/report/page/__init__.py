"""page: records of the bench as one HTML page that needs nothing else, and as tables for other programs."""
