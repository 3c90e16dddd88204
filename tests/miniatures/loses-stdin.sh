# Gives the body an empty standard input.
exec /bin/sh -c "$1" </dev/null
