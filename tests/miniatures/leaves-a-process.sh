# Reports success and leaves a process behind that holds the pipes.
/bin/sh -c "$1"
sleep 3600 &
exit 0
