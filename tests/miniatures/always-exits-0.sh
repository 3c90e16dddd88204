# Runs the body and reports success, whatever came of it.
/bin/sh -c "$1"
exit 0
