"""jobs: what a job did to files, as one Job: from Darshan logs, traces and profiles."""
