# Runs the body and dies of a signal before it can report anything.
ulimit -c 0
/bin/sh -c "$1"
kill -SEGV $$
