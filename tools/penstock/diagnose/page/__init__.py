"""page: a diagnosis as one HTML page."""
