"""What a user documents of routes of their own, in a file of its own that reports of runs keep up to date."""
