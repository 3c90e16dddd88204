# Keeps success, and reports every failure as 1.
/bin/sh -c "$1" || exit 1
