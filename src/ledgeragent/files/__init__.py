"""Files: how every one is opened to be read, within limits, and how every one is written."""
