"""feed: what the doctor and the monitor know, for Splunk, Prometheus and Grafana."""
