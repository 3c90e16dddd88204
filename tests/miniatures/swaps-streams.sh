# Gives stdout where stderr belongs, and the other way round.
exec /bin/sh -c "$1" 3>&1 1>&2 2>&3 3>&-
