# Does nothing.
