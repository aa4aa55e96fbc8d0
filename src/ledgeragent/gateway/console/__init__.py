"""The console: what a gateway decides, as it decides it, for whoever runs it."""
