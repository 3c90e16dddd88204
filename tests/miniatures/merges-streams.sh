# Sends stderr to stdout.
exec /bin/sh -c "$1" 2>&1
