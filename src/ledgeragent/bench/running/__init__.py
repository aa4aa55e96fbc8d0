"""Running experiments: jobs, endpoints, interruptions and what is kept of them."""
