# Runs nothing and never ends.
exec sleep 3600
