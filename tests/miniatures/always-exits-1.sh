# Runs the body and reports failure, whatever came of it.
/bin/sh -c "$1"
exit 1
