#!/bin/sh
# Keeps the hook's code every other time and ends with 1 in between, by a count that it keeps in the file $2.
echo >>"$2"
/bin/sh -c "$1"
code=$?
[ $(($(wc -l <"$2") % 2)) -eq 1 ] && exit "$code"
exit 1
