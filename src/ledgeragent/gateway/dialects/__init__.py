"""The wire formats the gateway speaks, one file each, behind one protocol (`base.Dialect`)."""
