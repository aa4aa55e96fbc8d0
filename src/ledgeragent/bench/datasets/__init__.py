"""The benchmark's data: which files a run reads, where they come from, and a hash to compare them by."""
